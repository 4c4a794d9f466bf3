-- A day that differs is healed in two steps now: its orders are fetched anew, and then all orders.
-- healing_tried said that the first had not helped, or had not been begun; it says now that the
-- second has not. So it is reset: each day that differs has both steps once more. found_version is
-- new. It is 0 of what was found before, whatever full resync has ended since.

ALTER TABLE `{{raw}}`.`proofs{{local}}`{{on_cluster}}
    MODIFY COLUMN `healing_tried` Bool DEFAULT false COMMENT 'Of a day that differs: whether a full resync of the orders that began after it was found did not help';

ALTER TABLE `{{raw}}`.`proofs`{{on_cluster}}
    MODIFY COLUMN `healing_tried` Bool DEFAULT false COMMENT 'Of a day that differs: whether a full resync of the orders that began after it was found did not help';

ALTER TABLE `{{raw}}`.`proofs{{local}}`{{on_cluster}}
    UPDATE `healing_tried` = false WHERE `healing_tried`
    SETTINGS mutations_sync = 1;

ALTER TABLE `{{raw}}`.`proofs{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `found_version` UInt64 COMMENT 'Of a day that differs: the version clock when this difference was found, as in first_version of checkpoints; 0 is not known' AFTER `healing_tried`;

ALTER TABLE `{{raw}}`.`proofs`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `found_version` UInt64 COMMENT 'Of a day that differs: the version clock when this difference was found, as in first_version of checkpoints; 0 is not known' AFTER `healing_tried`;
