"""What a release holds: counts, failures by stage and reason, labels, mappings, cross-checks, stage figures.

    python -m tests.benchmarks.release_figures [releases/v1]

Everything is read from the release's own files; nothing is run.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL
from tests.benchmarks.harness import ROOT, options_parser, table_text

QUERIES: tuple[tuple[str, str], ...] = (
    (
        "programs by stage and status",
        "SELECT stage, status, count(*) AS programs FROM programs GROUP BY ALL ORDER BY ALL",
    ),
    (
        "programs refused, by reason",
        """SELECT stage, regexp_replace(split_part(reason, ', got ', 1), '[0-9.]+', 'N', 'g') AS why,
                  count(*) AS programs
           FROM programs WHERE status <> 'ok' GROUP BY ALL ORDER BY programs DESC, why""",
    ),
    (
        "replies of the language model, by the stage of the parent",
        """SELECT f.stage AS parent, count(*) AS replies,
                  count(*) FILTER (v.status = 'ok') AS kept,
                  max(regexp_extract(v.name, '([0-9]+)$', 1)::INT + 1) AS most_attempts,
                  round(avg(v.prompt_tokens)) AS tokens_read,
                  round(avg(v.completion_tokens)) AS tokens_written
           FROM programs v JOIN programs f ON v.parent = f.program_id GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "designs by stage: of high-level synthesis, of labels, of runs, of their power",
        """SELECT p.stage, count(*) AS designs, count(*) FILTER (d.status = 'ok') AS synthesised,
                  count(*) FILTER (l.status = 'ok') AS labels_ok,
                  count(*) FILTER (l.status = 'ok' AND r.status = 'ok' AND r.power_status = 'ok') AS all_ok,
                  count(*) FILTER (r.status = 'ok' AND NOT r.outputs_equal) AS ok_but_other_outputs
           FROM designs d JOIN programs p USING (program_id) LEFT JOIN labels l USING (design_id)
           LEFT JOIN runs r USING (design_id) GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "failures by step, status and reason",
        """SELECT step, status, left(regexp_replace(reason, '[0-9.]+', 'N', 'g'), 110) AS why,
                  count(*) AS rows
           FROM (SELECT 'designs' AS step, status, reason FROM designs
                 UNION ALL SELECT 'labels', status, reason FROM labels
                 UNION ALL SELECT 'runs', status, reason FROM runs
                 UNION ALL SELECT 'power', power_status, power_reason FROM runs WHERE power_status IS NOT NULL
                 UNION ALL SELECT 'cross-checks', status, reason FROM cross_checks)
           WHERE status <> 'ok' GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "labels by stage, without and with directives: 5 %, median, 95 %, most",
        """SELECT p.stage, d.directives <> '[]' AS mapped, count(*) AS designs,
                  quantile_cont(l.cell_count, [0.05, 0.5, 0.95, 1])::BIGINT[] AS cells,
                  quantile_cont(r.latency_cycles, [0.05, 0.5, 0.95, 1])::BIGINT[] AS cycles,
                  list_transform(quantile_cont(r.power_mw, [0.05, 0.5, 0.95, 1]), lambda x: round(x, 2))
                      AS power_mw
           FROM designs d JOIN programs p USING (program_id) JOIN labels l USING (design_id)
           JOIN runs r USING (design_id) WHERE l.status = 'ok' AND r.status = 'ok'
           GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "a mapping against its program's plain design: 5 %, median, 95 %",
        """WITH one AS (SELECT d.program_id, d.directives, l.cell_count, r.latency_cycles
                        FROM designs d JOIN labels l USING (design_id) JOIN runs r USING (design_id)
                        WHERE l.status = 'ok'),
                plain AS (SELECT program_id, min(cell_count) AS cells, min(latency_cycles) AS cycles
                          FROM one WHERE directives = '[]' GROUP BY ALL)
           SELECT list_transform(quantile_cont(cell_count / cells, [0.05, 0.5, 0.95]), lambda x: round(x, 2))
                      AS cells,
                  list_transform(
                      quantile_cont(latency_cycles / cycles, [0.05, 0.5, 0.95]), lambda x: round(x, 2))
                      AS cycles
           FROM one JOIN plain USING (program_id) WHERE directives <> '[]'""",
    ),
    (
        "directives: applied or why not",
        """SELECT json_extract_string(directive, '$.kind') AS kind, applied,
                  CASE WHEN applied THEN '' ELSE regexp_replace(reason, '[0-9.]+', 'N', 'g') END AS why,
                  count(*) AS directives
           FROM directive_outcomes GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "designs of a pair of delays",
        """SELECT min(n) AS least, max(n) AS most, count(*) AS pairs
           FROM (SELECT count(*) AS n FROM designs
                 GROUP BY memory_read_delay_cycles, memory_write_delay_cycles)""",
    ),
    (
        "cross-checks",
        """SELECT "check", status, count(*) AS checks, count(*) FILTER (passed) AS passed,
                  min(deviation) AS lowest, max(deviation) AS highest
           FROM cross_checks GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "estimates before synthesis: longest path and area",
        """SELECT p.stage, count(*) AS designs,
                  round(median(abs(critical_path_ns / delay_ns - 1)), 3) AS path_median,
                  round(avg((abs(critical_path_ns / delay_ns - 1) <= 0.15)::INT), 3) AS path_within_15,
                  round(min(critical_path_ns / delay_ns), 2) AS path_lowest,
                  round(max(critical_path_ns / delay_ns), 2) AS path_highest,
                  round(median(abs(estimated_area_um2 / area_um2 - 1)), 3) AS area_median,
                  round(max(abs(estimated_area_um2 / area_um2 - 1)), 2) AS area_worst
           FROM designs d JOIN programs p USING (program_id) JOIN labels l USING (design_id)
           WHERE l.status = 'ok' GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "facts of programs: medians",
        """SELECT p.stage, count(*) AS programs, median(loop_depth) AS loop_depth,
                  median(loop_count) AS loops,
                  median(source_bytes) AS bytes, median(source_tokens) AS tokens,
                  round(median(array_operation_share), 3) AS array_share,
                  round(avg(array_operation_share), 3) AS mean_share
           FROM program_facts JOIN programs p USING (program_id) GROUP BY ALL ORDER BY ALL""",
    ),
    (
        "distances of the stages from the evaluation programs",
        """SELECT stage, measure, round(value, 3) AS distance FROM stage_reports
           WHERE statistic = 'distance' ORDER BY ALL""",
    ),
    (
        "elapsed seconds a design, two at a time: median and 95 %",
        """SELECT round(median(synthesis_wall_s), 2) AS synthesis,
                  round(quantile_cont(synthesis_wall_s, 0.95), 2) AS synthesis_95,
                  round(median(native_wall_s), 2) AS native, round(median(power_wall_s), 2) AS power,
                  round(median(build_wall_s + simulate_wall_s), 2) AS cycle_model
           FROM labels JOIN runs USING (design_id)""",
    ),
    (
        "designs a core-hour by the rows' own elapsed times, audits and cross-checks apart",
        """WITH spent AS (
               SELECT p.stage = 'evaluation' AS evaluation, l.cell_count <= 10000 AS to_10k_cells,
                      coalesce(hls_wall_s, 0) + coalesce(synthesis_wall_s, 0) + coalesce(native_wall_s, 0)
                      + coalesce(build_wall_s, 0) + coalesce(simulate_wall_s, 0) + coalesce(power_wall_s, 0)
                      AS elapsed_s, coalesce(synthesis_wall_s, 0) AS synthesis_s
               FROM designs d JOIN programs p USING (program_id) JOIN labels l USING (design_id)
               JOIN runs r USING (design_id))
           SELECT evaluation, to_10k_cells, count(*) AS designs, round(avg(elapsed_s), 2) AS elapsed_s,
                  round(avg(synthesis_s), 2) AS synthesis_s,
                  round(3600 / avg(elapsed_s))::INT AS designs_a_core_hour
           FROM spent GROUP BY ALL ORDER BY ALL""",
    ),
)


def open_tables(release: Path) -> duckdb.DuckDBPyConnection:
    """A connection with one view a table, wall-clock columns joined."""
    connection = duckdb.connect()
    for folder in sorted((release / "tables").iterdir()):
        files = f"read_parquet('{folder}/*.parquet', union_by_name = true) AS content"
        beside = release / "measured" / folder.name
        if beside.is_dir():
            measured = f"read_parquet('{beside}/*.parquet', union_by_name = true) AS times"
            files = f"{files} NATURAL LEFT JOIN {measured}"
        # Of labels, those of the project's own synthesis: each design has one.
        own = f" WHERE tool = '{SYNTHESIS_TOOL}'" if folder.name == "labels" else ""
        connection.execute(f"CREATE VIEW {folder.name} AS SELECT * FROM {files}{own}")
    return connection


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("release", nargs="?", type=Path, default=ROOT / "releases" / "v1")
    chosen = parser.parse_args()
    connection = open_tables(chosen.release)
    for title, query in QUERIES:
        found = connection.execute(query)
        names = [column[0] for column in found.description or []]
        print(f"{title}\n\n{table_text(names, found.fetchall())}")


if __name__ == "__main__":
    main()
