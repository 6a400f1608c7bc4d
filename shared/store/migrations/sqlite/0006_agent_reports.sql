-- What coding agents reported of wrong or missing answers. The question is kept only if the operator wants questions stored.
CREATE TABLE agent_reports (
    report_id  TEXT    PRIMARY KEY,
    -- The answer that it is about, if the agent named one. It may be forgotten sooner.
    message_id TEXT,
    question   TEXT,
    problem    TEXT    NOT NULL,
    -- The page or section that it is about, as the agent named it.
    page       TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX agent_reports_created_at ON agent_reports (created_at);
