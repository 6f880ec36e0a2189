"""Identity providers of the tests: a real one in a process of its own, and one that signs whatever it is told to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import free_port, wait_for

AUDIENCE = "inbounds"

KNOWN = """
[people."ana@hospital.example"]
role = "analyst"
datasets = ["visits"]
[people."ben@hospital.example"]
role = "analyst"
datasets = ["visits"]
"""
"""People whom a provider names, for a custodian's file."""

BACK = "http://127.0.0.1/back"

ANA = {"sub": "1", "email": "ana@hospital.example", "email_verified": True}
BEN = {"sub": "2", "email": "ben@hospital.example", "email_verified": False}


@contextmanager
def provider_process(port: int | None = None, *, seconds: int = 3600) -> Iterator[str]:
    """Run a real provider that knows two people, and yield its issuer."""
    chosen = free_port() if port is None else port
    people = [word for one in (ANA, BEN) for word in ("--user-claims", json.dumps(one))]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(chosen), *people]
    command += [f"--token-max-age={seconds}"]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "PYTHONPATH": ""}}
    with subprocess.Popen(command, **quiet) as process:
        issuer = f"http://127.0.0.1:{chosen}"
        try:
            wait_for(lambda: process.poll() is not None or _answers(issuer))
            assert process.poll() is None
            yield issuer
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(issuer: str) -> bool:
    try:
        return httpx2.get(f"{issuer}/.well-known/openid-configuration", trust_env=False).is_success
    except httpx2.TransportError:
        return False


def signed_in(issuer: str, subject: str, client: str = AUDIENCE) -> str:
    """Sign in by the code flow, as a browser and a client would, and return the token that tells who it was."""
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as browser:
        said = browser.get(f"{issuer}/.well-known/openid-configuration").json()
        asked = {"client_id": client, "redirect_uri": BACK, "response_type": "code", "scope": "openid email"}
        sent_back = browser.post(said["authorization_endpoint"], params=asked, data={"sub": subject})
        (code,) = parse_qs(urlsplit(sent_back.headers["location"]).query)["code"]
        shown = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
        return str(browser.post(said["token_endpoint"], data=shown, auth=(client, "any")).json()["id_token"])


class Signer:
    """A provider in this process, whose keys the test has; it counts how often it is asked."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "first"})
        self.asked = 0
        self.published: Any = None
        """What to publish in place of the key."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        signer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = signer.answer(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    def answer(self, path: str) -> bytes:
        """Return what is published at a path."""
        if path.endswith("openid-configuration"):
            return json.dumps({"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"}).encode()
        self.asked += 1
        keys = KeySet([self.key]).as_dict(private=False)
        return json.dumps(keys if self.published is None else self.published).encode()

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return good claims, some of them changed; None leaves one out."""
        now = int(time.time())
        good = {"iss": self.issuer, "aud": AUDIENCE, "exp": now + 600, "iat": now, **ANA}
        return {name: one for name, one in {**good, **changed}.items() if one is not None}

    def token(self, key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
        """Return a token, signed by its key or another one."""
        head = {"alg": "RS256", "kid": "first"} if header is None else header
        return jwt.encode(head, self.claims(**changed), self.key if key is None else key, algorithms=[head["alg"]])

    def close(self) -> None:
        """Publish nothing any more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE)
