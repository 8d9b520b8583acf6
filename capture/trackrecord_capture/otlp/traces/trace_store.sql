CREATE TABLE facts (
    trace TEXT NOT NULL, span TEXT NOT NULL, fact BLOB NOT NULL, PRIMARY KEY (trace, span)
) WITHOUT ROWID;
CREATE TABLE traces (
    trace TEXT PRIMARY KEY, first_at REAL NOT NULL, last_at REAL NOT NULL, has_ended INT NOT NULL,
    bytes INT NOT NULL, is_published INT NOT NULL
) WITHOUT ROWID;
CREATE TABLE scores (
    id TEXT PRIMARY KEY, trace TEXT NOT NULL, session TEXT NOT NULL, score BLOB NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX scores_of_trace ON scores (trace);
CREATE INDEX scores_of_session ON scores (session);
CREATE TABLE outcomes (
    trace TEXT NOT NULL, outcome_id TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,
    known BLOB NOT NULL, PRIMARY KEY (trace, outcome_id)
) WITHOUT ROWID;
CREATE INDEX outcomes_of_session ON outcomes (session);
CREATE INDEX outcomes_by_age ON outcomes (at);
CREATE TABLE counts (reason TEXT PRIMARY KEY, count INT NOT NULL) WITHOUT ROWID;
