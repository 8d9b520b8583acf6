CREATE TABLE IF NOT EXISTS log (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    identity TEXT NOT NULL,
    version INTEGER NOT NULL,
    resume_at INTEGER NOT NULL,
    goes_on_since REAL,
    stamp TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
    source TEXT NOT NULL,
    record BLOB NOT NULL,
    outcome_id TEXT NOT NULL,
    holder TEXT NOT NULL,
    ended_at REAL NOT NULL,
    is_copy INTEGER NOT NULL,
    PRIMARY KEY (source, record)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS made (
    short TEXT NOT NULL,
    hash TEXT NOT NULL,
    project TEXT NOT NULL,
    outcome_id TEXT NOT NULL,
    source TEXT NOT NULL,
    task_id TEXT NOT NULL,
    session TEXT NOT NULL,
    ended_at REAL NOT NULL,
    tree TEXT NOT NULL,
    PRIMARY KEY (short, hash, project, outcome_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS made_in_tree ON made (tree, ended_at);
CREATE TABLE IF NOT EXISTS repository (
    tree TEXT PRIMARY KEY,
    digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (
    project TEXT NOT NULL,
    outcome_id TEXT NOT NULL,
    says TEXT NOT NULL,
    PRIMARY KEY (project, outcome_id)
) WITHOUT ROWID;
DROP TABLE IF EXISTS reverted;
