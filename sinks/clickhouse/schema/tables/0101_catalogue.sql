-- Locations, menu and keys.

CREATE TABLE IF NOT EXISTS {{storage "locations"}}
(
{{columns "business"}},
{{columns "location" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Active locations the keys may use';

{{distributed "locations" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "allergens"}}
(
{{columns "business"}},
{{columns "allergen" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Allergen catalogue of the restaurant';

{{distributed "allergens" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "categories"}}
(
{{columns "business"}},
{{columns "category" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Menu categories';

{{distributed "categories" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "products"}}
(
{{columns "business"}},
    `id` String COMMENT 'Product id',
{{columns "product_state" "product_dates" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'Products of each location, offered online or not';

{{distributed "products" "business_id"}}

CREATE TABLE IF NOT EXISTS {{storage "api_keys"}}
(
{{columns "business"}},
{{columns "api_key" "meta"}}
)
ENGINE = {{replacing "_version, _deleted"}}
ORDER BY (business_id, id)
SETTINGS {{settings}}
COMMENT 'API keys: what each configured source may do';

{{distributed "api_keys" "business_id"}}
