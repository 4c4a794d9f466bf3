CREATE TABLE IF NOT EXISTS `{{raw}}`.`migrations{{local}}`{{on_cluster}}
(
    version Int64 COMMENT 'Number of the migration',
    name String COMMENT 'Name of the migration',
    applied_at DateTime64(6, '{{zone}}') DEFAULT now64(6, '{{zone}}') COMMENT 'When it was applied'
)
ENGINE = ReplacingMergeTree()
ORDER BY version
COMMENT 'Migrations of the schema that have been applied';
