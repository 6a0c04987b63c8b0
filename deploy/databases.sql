-- Databases of a team; PostgreSQL's image runs this once, when its volume is empty.
CREATE DATABASE dagster;
CREATE DATABASE mlflow;
CREATE DATABASE catalogue;
