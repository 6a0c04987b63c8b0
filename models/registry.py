"""The model registry: MLflow on SQLite, one way in for every predictor, and the alias `champion`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from models.base import PredictorError, TrainOutcome
from models.catalogue import PredictorSpec, predictor_named, predictors
from models.gate import (
    ReferenceErrors,
    decide,
    reference_digest,
    require_release,
    score,
    undecided,
)
from models.local_registry import CHAMPION, SHIPPED
from models.logged_models import code_to_log, log_model, model_card
from models.model_files import OUTCOME_FILE, REFERENCE_FILE, read_outcome, read_sealed_json, sealed_json
from models.tracking import (
    CARD_TAG,
    DATASET_TAG,
    DECISION_TAG,
    GATE_FIGURES,
    KEY_TAG,
    RegistryStore,
    log_metrics,
    log_outcome,
    mlflow_at,
    open_run,
)
from pipelines.schemas import PromotionRow, write_bytes_atomically

CANDIDATE = "candidate"
PROMOTION_FILE = "promotion.json"
CARD_FILE = "model_card.md"
_DECISION = "\n## Decision\n\n"
_DIGEST_LENGTH = 36  # MLflow's limit


class RegistryError(RuntimeError):
    """A model cannot be registered, or the registry does not hold what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What registering did.

    Attributes:
        name, version: of the registered model.
        became_champion: whether the alias points at this version now because of this call.
        is_champion: whether the alias points at this version now.
        reason: one sentence with the figures the decision was taken on.
    """

    name: str
    version: str
    became_champion: bool
    is_champion: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredModel:
    """A version in the registry.

    Attributes: error: mean error on the reference set; None where it was not scored. created_s: Unix time.
    """

    name: str
    version: str
    aliases: tuple[str, ...]
    error: float | None
    created_s: float
    decision: str


def register(
    outcome: TrainOutcome,
    store: RegistryStore,
    *,
    may_promote: bool,
    data_versions: Mapping[str, str] | None = None,
    spec: PredictorSpec | None = None,
) -> Registration:
    """Log an outcome, register it with alias `candidate`, and move `champion` if the gate says so.

    Errors on the reference set stay with the version, so that a later challenge costs one scoring. An outcome
    that is registered already is not registered again.

    Args:
        may_promote: whether the training counts: on a release, or a run at a scale other than smoke, which
            has no overrides.
        data_versions: DVC hash of each table by its path, for the model card.
        spec: another than the catalogue's, for tests.

    Raises:
        RegistryError: the training looked at groups of the reference set.
        PredictorError, MlflowException, OSError: the predictor or the store cannot be read.
    """
    spec = spec or predictor_named(outcome.predictor)
    with mlflow_at(store) as client, code_to_log() as code:
        registering = _Registering(client=client, store=store, code=code, may_promote=may_promote)
        return registering.register(outcome, spec, data_versions or {})


def register_shipped(store: RegistryStore, name: str | None = None) -> list[Registration]:
    """Register the weights that come with the project, each content once; the first becomes champion.

    Args:   name: of the only model to register; every model by default. An unknown name registers none.
    Raises: PredictorError: shipped weights are damaged. MlflowException, OSError: the store cannot be read.
    """
    registrations: list[Registration] = []
    with mlflow_at(store) as client, code_to_log() as code:
        registering = _Registering(client=client, store=store, code=code, may_promote=True, is_shipped=True)
        for spec in predictors():
            folder = spec.shipped_folder
            if name in (None, spec.name) and folder.is_dir():
                outcome = read_outcome(folder)
                if outcome is None:
                    raise PredictorError(f"damaged weights: {folder}; check the project out again")
                registrations.append(registering.register(outcome, spec, {}))
    return registrations


def shipped_models() -> list[RegisteredModel]:
    """Return the models of a new registry, by name: the weights that come with the project.

    The decision follows from the errors that they ship with; `created_s` is when their files were written.

    Raises: PredictorError: shipped weights are damaged.
    """
    models: list[RegisteredModel] = []
    for spec in predictors():
        if not spec.shipped_folder.is_dir():
            continue
        errors = ReferenceErrors.of_json(read_sealed_json(spec.shipped_folder / REFERENCE_FILE))
        row = _decided(spec, SHIPPED, errors)
        is_champion = row.decision == "promoted"
        models.append(
            RegisteredModel(
                name=spec.name,
                version=SHIPPED,
                aliases=(CANDIDATE, CHAMPION) if is_champion else (CANDIDATE,),
                error=row.error,
                created_s=(spec.shipped_folder / OUTCOME_FILE).stat().st_mtime,
                decision=row.decision,
            )
        )
    return models


@dataclass(frozen=True, slots=True, kw_only=True)
class _Registering:
    """One opening of the registry, in which outcomes are registered.

    Attributes:
        code: archive of the code to log.
        is_shipped: the outcomes come with the project; before they did, their groups were compared with those
            of the reference set, which takes seconds.
    """

    client: Any
    store: RegistryStore
    code: Callable[[], Path]
    may_promote: bool
    is_shipped: bool = False

    def register(
        self, outcome: TrainOutcome, spec: PredictorSpec, data_versions: Mapping[str, str]
    ) -> Registration:
        client = self.client
        version = _version_of_key(client, spec.name, outcome.key)
        decided = None if version is None else _promotion(version)
        if version is not None and decided is not None and not _is_open(decided, self.may_promote):
            return _registered_before(client, version, decided)
        if not self.is_shipped:
            _refuse_reference_groups(outcome, spec)
        if version is None:
            version = _first_of_key(client, self._log(outcome, spec, data_versions), outcome.key)
        number = str(version.version)
        client.set_registered_model_alias(spec.name, CANDIDATE, number)
        row = self._decision(outcome, spec, version)
        is_promoted = row.decision == "promoted"
        if is_promoted:
            client.set_registered_model_alias(spec.name, CHAMPION, number)
        _record_decision(client, version, row)
        return Registration(
            name=spec.name,
            version=number,
            became_champion=is_promoted,
            is_champion=is_promoted,
            reason=_sentence(row),
        )

    def _decision(self, outcome: TrainOutcome, spec: PredictorSpec, version: Any) -> PromotionRow:
        """Decide by the gate, before the alias moves: a champion cannot be judged against itself."""
        champion = _champion(self.client, spec.name)
        if champion is not None and champion.version == version.version:  # killed after the alias moved
            return _read_decision(version)
        row = _judge(self.client, outcome, spec, version, self.may_promote)
        _write_decision(self.client, version, row)
        return row

    def _log(self, outcome: TrainOutcome, spec: PredictorSpec, data_versions: Mapping[str, str]) -> Any:
        """Complete the run of the training with parameters, dataset, card and model; register a version."""
        import mlflow
        from mlflow.data.http_dataset_source import HTTPDatasetSource
        from mlflow.data.meta_dataset import MetaDataset
        from mlflow.exceptions import MlflowException

        client = self.client
        run_id = open_run(client, self.store, spec.name, outcome.key)
        card = model_card(outcome, spec, data_versions)
        source = HTTPDatasetSource(f"file:{outcome.source}")
        digest = outcome.dataset_hash[:_DIGEST_LENGTH]
        with mlflow.start_run(run_id=run_id):
            mlflow.log_params({**outcome.parameters, "dataset_hash": outcome.dataset_hash})
            _log_dataset(MetaDataset(source, name=outcome.source, digest=digest))
            info = log_model(outcome, spec, self.code())
            log_outcome(client, run_id, outcome, str(info.model_id))
            client.set_tag(run_id, DATASET_TAG, outcome.source)
        try:
            client.create_registered_model(spec.name, description=spec.description)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
        return client.create_model_version(
            name=spec.name,
            source=str(info.model_uri),
            run_id=run_id,
            model_id=str(info.model_id),  # a tracking server asks for it
            tags={KEY_TAG: outcome.key, DATASET_TAG: outcome.source},
            description=card,
        )


def _log_dataset(dataset: Any) -> None:
    """Log the dataset of the active run; another process may log the same one at the same time.

    MLflow looks for the dataset and then adds it, which the database refuses to the later one.
    """
    import mlflow
    from mlflow.exceptions import MlflowException

    for is_last in (False, True):
        try:
            mlflow.log_input(dataset, context="training")
            return
        except MlflowException as error:
            if is_last or "unique" not in str(error).lower():
                raise


def reference_errors(outcome: TrainOutcome, spec: PredictorSpec) -> ReferenceErrors:
    """Return the errors of an outcome on the reference set of its task; those that it ships with where they
    still hold.

    Raises: PredictorError: there is no reference release, or the predictor cannot answer.
    """
    reference = spec.task.reference
    shipped = outcome.folder / REFERENCE_FILE
    if reference is None:
        raise PredictorError(f"no reference release of task {spec.task.name}")
    if not (reference.folder / "tables").is_dir() and shipped.is_file():
        return ReferenceErrors.of_json(read_sealed_json(shipped))
    require_release(reference.folder)
    digest = reference_digest(spec.task, reference)
    if shipped.is_file():
        errors = ReferenceErrors.of_json(read_sealed_json(shipped))
        if errors.digest == digest:
            return errors
    known = spec.task.reference_set(reference)
    return score(reference.name, digest, known, predictor_named(outcome.predictor).load(outcome.folder))


def write_reference_errors(outcome: TrainOutcome, spec: PredictorSpec) -> ReferenceErrors:
    """Score an outcome, and keep the errors in its folder, so that registering it costs no scoring."""
    errors = reference_errors(outcome, spec)
    write_bytes_atomically(outcome.folder / REFERENCE_FILE, sealed_json(errors.as_json()))
    return errors


def promotion_rows(store: RegistryStore, name: str | None = None) -> list[PromotionRow]:
    """Return the decisions about all versions, of one model or of all, sorted by model and version."""
    rows: list[PromotionRow] = []
    with mlflow_at(store) as client:
        for version in client.search_model_versions("" if name is None else f"name = '{name}'"):
            row = _promotion(version)
            if row is not None:
                rows.append(row)
    return sorted(rows, key=lambda row: (row.model, int(row.version)))


def registered_models(store: RegistryStore) -> list[RegisteredModel]:
    """Return all versions, newest first within a name."""
    models: list[RegisteredModel] = []
    with mlflow_at(store) as client:
        for model in client.search_registered_models():
            aliases: dict[str, list[str]] = {}
            for alias, number in model.aliases.items():
                aliases.setdefault(str(number), []).append(alias)
            for version in client.search_model_versions(f"name = '{model.name}'"):
                row = _promotion(version)
                models.append(
                    RegisteredModel(
                        name=str(model.name),
                        version=str(version.version),
                        aliases=tuple(sorted(aliases.get(str(version.version), []))),
                        error=None if row is None else row.error,
                        created_s=version.creation_timestamp / 1000,
                        decision=CANDIDATE if row is None else row.decision,
                    )
                )
    return sorted(models, key=lambda m: (m.name, -int(m.version)))


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFacts:
    """What the page of a model shows about one version.

    Attributes:
        error: mean error on the reference set; None where it was not scored.
        champion_error: that of the version with the alias `champion`; None where there is none.
        run_path: path of the page of its run in MLflow's UI.
    """

    error: float | None
    champion_error: float | None
    run_path: str


def version_facts(store: RegistryStore, name: str, version: str) -> VersionFacts:
    """Look one version up in the registry.

    Raises: MlflowException: it is not there, or the store cannot be read.
    """
    with mlflow_at(store) as client:
        known, champion = client.get_model_version(name, version), _champion(client, name)
        experiment = client.get_run(known.run_id).info.experiment_id
        return VersionFacts(
            error=_reference_error(known),
            champion_error=None if champion is None else _reference_error(champion),
            run_path=f"#/experiments/{experiment}/runs/{known.run_id}",
        )


def _reference_error(version: Any) -> float | None:
    row = _promotion(version)
    return None if row is None else row.error


def rollback(store: RegistryStore, name: str) -> str:
    """Give the alias `champion` back to the version that had it before.

    Returns: that version.
    Raises:  RegistryError: no such model, no champion, or none before it.
    """
    rows = promotion_rows(store, name)
    with mlflow_at(store) as client:
        champion = _champion(client, name)
        if champion is None:
            raise RegistryError(f"no champion of model {name}")
        number = int(champion.version)
        earlier = [r for r in rows if r.decision == "promoted" and int(r.version) < number]
        if not earlier:
            raise RegistryError(f"no earlier champion of model {name}; version {number} is the first")
        back = earlier[-1].version
        for row in rows:
            if int(row.version) == number:
                reason = f"rolled back to version {back}"
                _record_decision(client, champion, replace(row, decision="rolled_back", reason=reason))
        client.set_registered_model_alias(name, CHAMPION, back)  # last: after a kill the call is repeated
        return back


def _refuse_reference_groups(outcome: TrainOutcome, spec: PredictorSpec) -> None:
    reference = spec.task.reference
    if reference is None or not (reference.folder / "tables").is_dir():
        return
    common = sorted(set(outcome.seen_groups) & spec.task.reference_groups(reference))
    if common:
        raise RegistryError(
            f"{spec.name} was trained on groups of the reference set ({reference.name}): "
            f"{', '.join(common[:5])}; leave them out of training"
        )


def _judge(
    client: Any, outcome: TrainOutcome, spec: PredictorSpec, version: Any, may_promote: bool
) -> PromotionRow:
    """Return the gate's decision about a new version, and its errors logged beside it."""
    reference = spec.task.reference
    name, number = None if reference is None else reference.name, str(version.version)
    if not may_promote:
        reason = (
            "not scored: only a training on a release, or a run at a scale other than smoke without "
            "overrides, may promote"
        )
        return undecided(spec.name, number, name, CANDIDATE, reason)
    try:
        errors = reference_errors(outcome, spec)
    except PredictorError as error:
        return undecided(spec.name, number, name, "refused", str(error))
    client.log_text(version.run_id, sealed_json(errors.as_json()).decode(), REFERENCE_FILE)
    old = _champion(client, spec.name)
    champion, problem = (None, "") if old is None else _champion_errors(client, old, errors, spec)
    row = _decided(spec, number, errors, champion, None if old is None else str(old.version))
    if row.error is not None and row.baseline_error is not None and row.interval_low is not None:
        figures: dict[str, float] = dict(
            zip(GATE_FIGURES, (row.error, row.baseline_error, row.interval_low), strict=True)
        )
        log_metrics(client, version.run_id, figures, str(version.source).removeprefix("models:/"))
    return replace(row, reason=f"{row.reason}; {problem}") if problem else row


def _decided(
    spec: PredictorSpec,
    number: str,
    errors: ReferenceErrors,
    champion: ReferenceErrors | None = None,
    champion_version: str | None = None,
) -> PromotionRow:
    reference = spec.task.reference
    return decide(
        model=spec.name,
        version=number,
        challenger=errors,
        champion=champion,
        champion_version=champion_version,
        minimum_programs=0 if reference is None else reference.minimum_programs,
    )


def _champion_errors(
    client: Any, champion: Any, errors: ReferenceErrors, spec: PredictorSpec
) -> tuple[ReferenceErrors | None, str]:
    """Return the errors of the champion on the same reference set, or why it has none."""
    import mlflow
    from mlflow.exceptions import MlflowException

    try:
        path = client.download_artifacts(champion.run_id, REFERENCE_FILE)
        kept = ReferenceErrors.of_json(read_sealed_json(Path(path)))
        if (kept.digest, kept.programs) == (errors.digest, errors.programs):
            return kept, ""
    except (MlflowException, OSError, ValueError, TypeError):
        pass  # of a version that was never scored; it is scored now
    try:
        uri = f"models:/{spec.name}/{champion.version}"
        predictor = mlflow.pyfunc.load_model(uri).unwrap_python_model().predictor
        assert spec.task.reference is not None
        known = spec.task.reference_set(spec.task.reference)
        return score(errors.reference, errors.digest, known, predictor), ""
    except (MlflowException, ValueError, ImportError, AttributeError, OSError) as error:
        return None, f"champion version {champion.version} cannot answer with this code: {error}"


def _champion(client: Any, name: str) -> Any | None:
    from mlflow.exceptions import MlflowException

    try:
        return client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException as error:
        if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
            return None
        raise


def _version_of_key(client: Any, name: str, key: str) -> Any | None:
    """Return the version of this very outcome, when an earlier call registered it."""
    filters = f"name = '{name}' and tags.training_key = '{key}'"
    versions = sorted(client.search_model_versions(filters), key=lambda own: int(own.version))
    return versions[0] if versions else None


def _first_of_key(client: Any, version: Any, key: str) -> Any:
    """Return the first version of an outcome; a later one, which another process was faster than, is deleted.

    The registry gives out numbers one by one, so that of two processes the later one sees both versions.
    """
    first = _version_of_key(client, version.name, key)
    if first is None or first.version == version.version:
        return version
    client.delete_model_version(version.name, version.version)
    return first


def _promotion(version: Any) -> PromotionRow | None:
    """Return the decision about a version; None while there is none."""
    if "promotion" in version.tags:  # of a registry of 0.1.0
        return PromotionRow(**json.loads(version.tags["promotion"]))
    if DECISION_TAG not in version.tags:
        return None
    return _read_decision(version)


def _read_decision(version: Any) -> PromotionRow:
    from mlflow.artifacts import load_dict

    return PromotionRow(**load_dict(f"runs:/{version.run_id}/{PROMOTION_FILE}"))


def _write_decision(client: Any, version: Any, row: PromotionRow) -> None:
    client.log_text(version.run_id, json.dumps(asdict(row), sort_keys=True), PROMOTION_FILE)


def _is_open(decided: PromotionRow, may_promote: bool) -> bool:
    """Tell whether a version is to be judged again: a candidate whose training counts now."""
    return may_promote and decided.decision == CANDIDATE


def _registered_before(client: Any, known: Any, decided: PromotionRow) -> Registration:
    """Return the registration by an earlier call; the gate is not asked twice about one version."""
    champion = _champion(client, known.name)
    return Registration(
        name=str(known.name),
        version=str(known.version),
        became_champion=False,
        is_champion=champion is not None and str(champion.version) == str(known.version),
        reason=f"registered already; then: {_sentence(decided)}",
    )


def _record_decision(client: Any, version: Any, row: PromotionRow) -> None:
    """Keep a decision with the run, in the model card, and, last, as a tag: what has the tag is complete."""
    card = f"{version.description.partition(_DECISION)[0]}{_DECISION}{_sentence(row)}\n"
    _write_decision(client, version, row)
    client.log_text(version.run_id, card, CARD_FILE)
    client.update_model_version(version.name, version.version, description=card)
    for name, value in ((CARD_TAG, card), (DECISION_TAG, row.decision)):
        client.set_tag(version.run_id, name, value)
    if "promotion" in version.tags:
        client.delete_model_version_tag(version.name, version.version, "promotion")
    client.set_model_version_tag(version.name, version.version, DECISION_TAG, row.decision)


def _sentence(row: PromotionRow) -> str:
    if row.error is None:
        return f"{row.decision}: {row.reason}"
    champion = "" if row.champion_error is None else f", champion {row.champion_error:.4f}"
    return (
        f"{row.decision}: {row.reason}; error {row.error:.4f}{champion}, "
        f"baseline {row.baseline_error:.4f}, on {row.row_count} programs"
    )
