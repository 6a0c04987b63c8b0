"""The inbox: files become the suite of their own, bad ones are moved aside with the reason."""

from __future__ import annotations

import os
import time
from pathlib import Path

import dagster as dg
import pytest

from assets.configuration import compose_configuration, write_parameters
from assets.definitions import build_definitions
from assets.deployments import Deployment
from assets.errors import FoundryError
from assets.inbox import (
    INBOX,
    RUN_KEY_TAG,
    SETTLED_S,
    _put_away,  # pyright: ignore[reportPrivateUsage]
    inbox_files,
    take_files,
    waiting_files,
)
from assets.settings import Settings
from pipelines.schemas import read_table, table_spec

ADD = "void add(int a[4], int b[4]) {\n  for (int i = 0; i < 4; i++) a[i] = a[i] + b[i];\n}\n"
SCALE = '#include "size.h"\nvoid scale(int a[N]) {\n  for (int i = 0; i < N; i++) a[i] = 3 * a[i];\n}\n'
OUTSIDE = "void outside(int a[4]) {\n  for (int i = 0; i < 9; i++) a[i] = i;\n}\n"
OVERRIDES = (
    "hls.memory_delay=[2]",
    "hls.pipeline=[false]",
    "labelling.power=false",
    "labelling.audit_fraction=0",
    "labelling.cross_check_fraction=0",
    "run.workers=1",
)


def _drop(deployment: Deployment, name: str, text: str, *, age_s: float = 60.0) -> Path:
    path = deployment.data_dir / "inbox" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def _label(deployment: Deployment) -> dg.ExecuteInProcessResult:
    definitions = build_definitions(configuration=compose_configuration(OVERRIDES))
    with dg.DagsterInstance.ephemeral() as instance:
        job = definitions.resolve_job_def("label_inbox")
        return job.execute_in_process(instance=instance, raise_on_error=False)


def _names(deployment: Deployment, table: str) -> list[str]:
    folder = deployment.of_suite(INBOX).data_dir
    return sorted(row.name for row in read_table(folder, table_spec(table), [INBOX]))


def test_files_become_a_suite_and_bad_ones_are_moved_aside(deployment: Deployment) -> None:
    write_parameters(deployment.project, compose_configuration(OVERRIDES))
    _drop(deployment, "add.c", ADD)
    _drop(deployment, "scale.c", SCALE)
    _drop(deployment, "size.h", "#define N 8\n")
    _drop(deployment, "text.c", "no program\n")
    _drop(deployment, "outside.c", OUTSIDE)
    _drop(deployment, "twin.c", ADD)
    _drop(deployment, f"{'n' * 250}.c", ADD)
    _drop(deployment, os.fsdecode(b"\xff.c"), ADD)
    os.mkfifo(deployment.data_dir / "inbox" / "pipe.c")
    os.utime(deployment.data_dir / "inbox" / "pipe.c", (1.0, 1.0))
    result = _label(deployment)
    assert result.success
    inbox = deployment.data_dir / "inbox"
    assert sorted(path.name for path in inbox.iterdir()) == ["refused", "size.h"]
    reasons = {path.name: path.read_text() for path in (inbox / "refused").glob("*.reason.txt")}
    names = ("outside", "text", "twin", "n" * 200, "\N{REPLACEMENT CHARACTER}", "pipe")
    assert set(reasons) == {f"{name}.c.reason.txt" for name in names}
    assert "a pipe; accepted: a regular file" in reasons["pipe.c.reason.txt"]
    assert "name of the file; accepted: printable UTF-8" in reasons[f"{names[3]}.c.reason.txt"]
    assert "rejected: " in reasons["outside.c.reason.txt"]
    assert "out of bounds" in reasons["outside.c.reason.txt"]
    assert reasons["twin.c.reason.txt"] == "the same program as add.c of suite inbox\n"
    assert (inbox / "refused" / "text.c").read_text() == "no program\n"
    assert _names(deployment, "programs") == ["add", "outside", "scale"]
    folder = deployment.of_suite(INBOX).data_dir
    labels = read_table(folder, table_spec("labels"), [INBOX])
    assert sorted(label.status for label in labels) == ["ok", "ok", "rejected"]
    event = result.asset_materializations_for_node("inbox")[0]
    assert event.metadata["accepted"].value == ["add.c", "scale.c"]
    checks = result.get_asset_check_evaluations()
    assert len(checks) > 10
    assert all(check.passed for check in checks if check.severity == dg.AssetCheckSeverity.ERROR)


def test_a_killed_intake_leaves_the_earlier_suite_and_the_file_waits(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(configuration=compose_configuration(OVERRIDES), deployment=deployment)
    take_files(settings, [_drop(deployment, "add.c", ADD)])
    suite = deployment.of_suite(INBOX).data_dir
    before = {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()}
    other = _drop(deployment, "add.c", ADD.replace("a[i] + b[i]", "a[i] - b[i]"))
    with monkeypatch.context() as patch:
        patch.setattr("assets.inbox._without_design", _killed)
        with pytest.raises(KeyboardInterrupt):
            take_files(settings, [other])
    assert {path: path.read_bytes() for path in suite.rglob("*") if path.is_file()} == before
    assert waiting_files(deployment) == [other]
    assert take_files(settings, [other]).accepted == ("add.c",)
    [program] = read_table(suite, table_spec("programs"), [INBOX])
    assert "a[i] - b[i]" in program.source
    assert [path.name for path in suite.parent.iterdir()] == [INBOX]


def test_a_refused_file_waits_until_its_reason_is_written(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _drop(deployment, "text.c", "no program\n")
    refused = path.parent / "refused"
    with monkeypatch.context() as patch:
        patch.setattr("assets.inbox.write_bytes_atomically", _killed)
        with pytest.raises(KeyboardInterrupt):
            _put_away(path, "no program")
    assert path.is_file()
    _put_away(path, "no program")
    assert sorted(left.name for left in refused.iterdir()) == ["text.c", "text.c.reason.txt"]


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_later_files_join_the_suite_and_replace_those_of_their_name(deployment: Deployment) -> None:
    write_parameters(deployment.project, compose_configuration(OVERRIDES))
    _drop(deployment, "add.c", ADD)
    assert _label(deployment).success
    _drop(deployment, "add.c", ADD.replace("a[i] + b[i]", "a[i] - b[i]"))
    _drop(deployment, "double.c", ADD.replace("add", "twice").replace("b[i];", "a[i];"))
    assert _label(deployment).success
    assert _names(deployment, "programs") == ["add", "double"]
    folder = deployment.of_suite(INBOX).data_dir
    assert any("a[i] - b[i]" in row.source for row in read_table(folder, table_spec("programs"), [INBOX]))


def test_the_sensor_asks_once_for_the_files_that_wait(deployment: Deployment) -> None:
    def asked() -> dg.SensorResult | dg.RunRequest | dg.SkipReason:
        with dg.DagsterInstance.ephemeral() as instance:
            return inbox_files(dg.build_sensor_context(instance=instance))

    assert isinstance(asked(), dg.SkipReason)
    _drop(deployment, "new.c", ADD, age_s=0.0)
    assert waiting_files(deployment) == []  # somebody may still write to it
    assert isinstance(asked(), dg.SkipReason)
    path = _drop(deployment, "new.c", ADD, age_s=SETTLED_S + 1)
    first, second = asked(), asked()
    assert isinstance(first, dg.RunRequest)
    assert isinstance(second, dg.RunRequest)
    assert first.run_key == second.run_key
    os.utime(path, (1.0, 1.0))
    third = asked()
    assert isinstance(third, dg.RunRequest)
    assert third.run_key != first.run_key
    os.utime(path, (time.time() + 9e6,) * 2)
    assert waiting_files(deployment) == [path], "a time in the future says nothing"
    path.rename(path.with_name(os.fsdecode(b"\xff.c")))
    assert isinstance(asked(), dg.RunRequest)


def test_a_failed_launch_is_tried_again_under_a_new_key(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    _drop(deployment, "new.c", ADD)
    job = build_definitions().resolve_job_def("label_inbox")
    with dg.DagsterInstance.ephemeral() as instance:

        def asked() -> dg.SensorResult | dg.RunRequest | dg.SkipReason:
            return inbox_files(dg.build_sensor_context(instance=instance))

        def asked_key() -> str:
            request = asked()
            assert isinstance(request, dg.RunRequest)
            return str(request.run_key)

        def launch(key: str) -> dg.DagsterRun:
            return instance.create_run_for_job(job, tags={RUN_KEY_TAG: key})

        first = asked_key()
        run = launch(first)
        assert asked_key() == first, "a run that waits for its launch is not asked for again"
        instance.report_run_failed(run)
        assert "run 1 failed; the next one is 60 s after it" in str(asked())
        now = time.time()
        monkeypatch.setattr("assets.inbox.time.time", lambda: now + 61)
        second = asked_key()
        assert second == f"{first}-1"
        instance.report_run_failed(launch(second))
        assert "run 2 failed; the next one is 120 s after it" in str(asked())
        monkeypatch.setattr("assets.inbox.time.time", lambda: now + 61 + 121)
        third = launch(asked_key())
        assert third.tags[RUN_KEY_TAG] == f"{first}-2"
        instance.report_dagster_event(
            dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, third.job_name), third.run_id
        )
        instance.report_run_failed(third)
        assert "run 3 failed; the next one is 240 s after it" in str(asked())


def test_a_suite_has_a_plain_name(deployment: Deployment) -> None:
    with pytest.raises(FoundryError, match=r"not a name of a suite: '\.\./other'; accepted: at most 64"):
        deployment.of_suite("../other")
