# SPDX-License-Identifier: Apache-2.0
"""The API server refuses each manifest of crds/testdata/bad with a sentence that names the field, and takes the good ones.

Needs an API server with the CRDs, no nodes: RECLAIM_TEST_KUBECONFIG, else the cluster of `./dev up`. Dry runs: nothing is stored.
    ./dev apiserver --crds -- python3 -m pytest e2e/tests/test_bad_manifests.py
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterator

import pytest
import yaml
from kubernetes import client, config

TESTDATA = Path(__file__).resolve().parents[2] / "crds/testdata"
BAD = sorted((TESTDATA / "bad").glob("*.yaml"))
GOOD = sorted((TESTDATA / "good").glob("*.yaml"))


@pytest.fixture(scope="module")
def api_client(request: pytest.FixtureRequest) -> Iterator[client.ApiClient]:
    kubeconfig = os.environ.get("RECLAIM_TEST_KUBECONFIG") or request.getfixturevalue("cluster").kubeconfig
    with config.new_client_from_config(kubeconfig) as api:
        yield api


def create(api: client.ApiClient, manifest: Path) -> dict[str, Any]:
    """What the API server would store. Unknown fields are errors, as they are for kubectl."""
    response = api.call_api(
        "/apis/kswapd.dev/v1alpha1/reclaimpolicies",
        "POST",
        query_params=[("dryRun", "All"), ("fieldValidation", "Strict")],
        body=yaml.safe_load(manifest.read_text()),
        response_type="object",
        auth_settings=["BearerToken"],
        _return_http_data_only=True,
    )
    return response


def wanted_field(manifest: Path) -> str:
    """Of the comment `# field: spec.kswapd.workers`."""
    lines = [line for line in manifest.read_text().splitlines() if line.startswith("# field: ")]
    assert len(lines) == 1, f"{manifest} must have one line '# field: PATH'"
    return lines[0].removeprefix("# field: ")


def test_there_are_manifests() -> None:
    assert len(BAD) >= 20
    assert len(GOOD) >= 5


@pytest.mark.parametrize("manifest", BAD, ids=lambda path: path.stem)
def test_refuses_with_a_sentence_that_names_the_field(api_client: client.ApiClient, manifest: Path) -> None:
    with pytest.raises(client.ApiException) as refused:
        create(api_client, manifest)
    status = json.loads(refused.value.body)
    assert refused.value.status in (400, 422), status["message"]
    field = wanted_field(manifest)
    if refused.value.status == 400:  # an unknown field, found before validation
        assert f'unknown field "{field}"' in status["message"]
        return
    about_field = [cause["message"] for cause in status["details"]["causes"] if cause["field"] == field]
    assert about_field, f"no cause names {field}: {status['message']}"
    print(f"{manifest.stem}: {field}: {about_field[0]}")
    for message in about_field:
        assert "should match '" not in message, f"a regular expression is not a sentence: {message}"
        assert "rule evaluation error" not in message


@pytest.mark.parametrize("manifest", GOOD, ids=lambda path: path.stem)
def test_takes_a_good_manifest(api_client: client.ApiClient, manifest: Path) -> None:
    stored = create(api_client, manifest)
    wanted = yaml.safe_load(manifest.read_text())
    for key, value in (wanted["spec"] or {}).items():
        if key == "rollout":
            value = {"onFailure": "Rollback"} | value
        assert stored["spec"][key] == value, f"spec.{key} was pruned or changed"


def test_fills_in_the_defaults(api_client: client.ApiClient) -> None:
    spec = create(api_client, TESTDATA / "good/empty.yaml")["spec"]
    assert spec == {"mode": "Enforce", "deletion": "Restore", "priority": 0}
