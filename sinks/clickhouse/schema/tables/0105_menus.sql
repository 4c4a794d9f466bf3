-- What can be ordered online at each location, and what could be before: the API only knows
-- the present. A menu is mostly what it was, so that each state of a product is kept once
-- (menu_states), and each version of a menu as the list of those that were on it
-- (menu_versions). The view menu_history puts them together.

CREATE TABLE IF NOT EXISTS {{storage "menus"}}
(
{{columns "business"}},
{{columns "menu" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Orderable menus, one of each location';

{{distributed "menus" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "menu_states"}}
(
{{columns "business"}},
    `id` String COMMENT 'Location id',
    `product_id` String COMMENT 'Product id',
{{columns "menu_offer"}},
    `_state` UInt64 COMMENT 'Hash of the state: equal states of a product have equal hashes'
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, id, product_id, _state)
SETTINGS {{settings}}
COMMENT 'Every state of a product on a menu that was stored, once each';

{{distributed "menu_states" "business_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS {{inner "menu_states_feed"}} TO {{local "menu_states"}}
(
{{shown "business"}},
    `id` String COMMENT 'Location id',
    `product_id` String COMMENT 'Product id',
{{shown "menu_offer"}},
    `_state` UInt64 COMMENT 'Hash of the state: equal states of a product have equal hashes'
)
AS {{template "menu_states_feed"}}
COMMENT 'Writes the states of the products of menus to menu_states';

CREATE TABLE IF NOT EXISTS {{storage "menu_versions"}}
(
{{columns "business"}},
    `id` String COMMENT 'Location id',
{{columns "menu_version" "version_dates"}}
)
ENGINE = {{replacing ""}}
ORDER BY (business_id, id, _version)
SETTINGS {{settings}}
COMMENT 'Every version of a menu that was stored';

{{distributed "menu_versions" "business_id"}}

CREATE MATERIALIZED VIEW IF NOT EXISTS {{inner "menu_versions_feed"}} TO {{local "menu_versions"}}
(
{{shown "business"}},
    `id` String COMMENT 'Location id',
{{shown "menu_version" "version_dates"}}
)
AS {{template "menu_versions_feed"}}
COMMENT 'Writes every version of menus to menu_versions';
