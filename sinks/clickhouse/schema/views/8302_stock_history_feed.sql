-- What is written to the histories follows the program, as the views do: the migrations that made
-- the feeds did so with the columns of their time.

ALTER TABLE `{{raw}}`.`stock_history_feed`{{on_cluster}} MODIFY QUERY SELECT
    business_id, id, `location_id`, `name`, `unit`, `stock`, `min_stock`, `below_min`,
    _deleted = 1 AS removed,
    _delete_reason AS removed_reason,
    -- A removal is dated by the first of the two times that the service gave, as removed_at of the views.
    least(_fetched_at, ifNull(if(removed, ifNull(_deleted_at, _tombstone_updated_at), updated_at), _fetched_at)) AS valid_from,
    _fetched_at AS seen_at,
    _version,
    -- The hash covers a fixed list of columns, in this order. A column that is added later is not in it:
    -- with it each state would have another hash, and each product and ingredient would seem to change at
    -- the next full resync. See docs/adding-a-column.md.
    cityHash64(toJSONString(tuple(removed, removed_reason,
        location_id, name, unit, stock, min_stock, below_min))) AS _state
FROM `{{raw}}`.`ingredients{{local}}`;
