-- What only the words of the reason said before. The default is for verdicts stored without the
-- column: of those that differ, all that do not have this sentence were left to a deep run.

ALTER TABLE `{{raw}}`.`proofs{{local}}`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `healing_tried` Bool DEFAULT verdict = 'drift' AND reason != 'not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn' COMMENT 'Of a drift: whether the next deep run heals it, since a healing did not help, or was not begun after that of days before it had not; else the next turn does' AFTER `reason`;

ALTER TABLE `{{raw}}`.`proofs`{{on_cluster}}
    ADD COLUMN IF NOT EXISTS `healing_tried` Bool DEFAULT verdict = 'drift' AND reason != 'not healed: it was only compared; larder reconcile --heal heals it, and the daemon at its next turn' COMMENT 'Of a drift: whether the next deep run heals it, since a healing did not help, or was not begun after that of days before it had not; else the next turn does' AFTER `reason`;
