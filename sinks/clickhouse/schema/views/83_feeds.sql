-- What is written to the histories follows the program, as the views do: the migrations that made
-- the feeds did so with the columns of their time.

ALTER TABLE {{inner "product_history_feed"}} MODIFY QUERY {{template "product_history_feed"}};

ALTER TABLE {{inner "stock_history_feed"}} MODIFY QUERY {{template "stock_history_feed"}};

ALTER TABLE {{inner "menu_states_feed"}} MODIFY QUERY {{template "menu_states_feed"}};

ALTER TABLE {{inner "menu_versions_feed"}} MODIFY QUERY {{template "menu_versions_feed"}};
