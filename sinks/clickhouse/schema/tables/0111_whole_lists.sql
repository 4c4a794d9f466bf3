-- Lists are walked whole. The checkpoints of walks of single locations, and which locations those
-- were, are forgotten: where there were some, a backfill follows, elsewhere a full resync. Totals
-- have what they were asked for in the position of their backfill.

ALTER TABLE `{{raw}}`.`checkpoints{{local}}`{{on_cluster}}
    DELETE WHERE toString(stream) LIKE '%@%' OR walk IN ('coverage', 'lost_locations')
    SETTINGS mutations_sync = 1;

ALTER TABLE `{{raw}}`.`checkpoints{{local}}`{{on_cluster}}
    COMMENT COLUMN `first_version` 'Of long walks: below the version of every row that it brings, and above that of every row stored before it began; of owed: a full resync is owed until one has begun above it; 0 for other walks';

ALTER TABLE `{{raw}}`.`checkpoints`{{on_cluster}}
    COMMENT COLUMN `first_version` 'Of long walks: below the version of every row that it brings, and above that of every row stored before it began; of owed: a full resync is owed until one has begun above it; 0 for other walks';
