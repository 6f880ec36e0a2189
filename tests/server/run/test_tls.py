"""A server with a certificate of its own."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import inbounds
from inbounds.errors import InvalidParameter, ServerUnreachable
from inbounds.server.run.process import check
from tests.helpers.programs import ROOT
from tests.helpers.served_hospital import BY_CLINIC, Served, bearer, build, running, wait_for

TLS = """
[tls]
certificate = "door.pem"
key = "door-key.pem"
"""


def certify(folder: Path) -> Path:
    """Write a certificate for this machine, signed by itself, and return its path."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "door-key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (folder / "door.pem").write_bytes(made.public_bytes(pem))
    return folder / "door.pem"


@pytest.fixture
def sealed(tmp_path: Path) -> Iterator[Served]:
    """A server that has a certificate."""
    found = build(tmp_path / "hospital", more=TLS)
    certify(found.folder)
    yield found
    found.close()


@pytest.mark.slow
def test_a_certificate_is_shown_and_verified(sealed: Served) -> None:
    """With a certificate the server speaks TLS, and says that nothing else will do; clients verify it."""
    context = ssl.create_default_context(cafile=str(sealed.folder / "door.pem"))
    url, key = sealed.file.url, sealed.keys["ana"]
    assert url.startswith("https://")
    command = [sys.executable, "-m", "inbounds.cli", "serve", str(sealed.path)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=ROOT, env=os.environ) as process:
        try:
            wait_for(lambda: process.poll() is not None or answers(url, context))
            said = httpx2.get(f"{url}/v1/me", verify=context, headers=bearer(key), trust_env=False, timeout=60)
            assert said.json()["name"] == "ana"
            assert said.headers["strict-transport-security"] == "max-age=31536000"
            with inbounds.connect(url, key=key, verify=context) as connection:
                assert len(connection.dataset("visits").sql(BY_CLINIC).ask(1).rows) == 2
            with inbounds.connect(url, key=key) as stranger, pytest.raises(ServerUnreachable, match="not trusted"):
                stranger.datasets()
            in_clear = inbounds.connect(url.replace("https", "http"), key=key, patience=0)  # it tries again otherwise
            with in_clear as clear, pytest.raises(ServerUnreachable):
                clear.datasets()
        finally:
            process.terminate()
            assert process.wait(60) == 0


def answers(url: str, context: ssl.SSLContext) -> bool:
    """Return whether a server is there."""
    try:
        return httpx2.get(f"{url}/healthz", verify=context, trust_env=False).is_success
    except httpx2.TransportError:
        return False


@pytest.mark.slow
def test_without_a_certificate_nothing_is_said_of_one(served: Served) -> None:
    """In the clear, on this machine, no browser is told to use TLS from now on."""
    with running(served) as found, found.client() as client:
        assert "strict-transport-security" not in client.get("/healthz").headers


@pytest.mark.parametrize("broken", ["door.pem", "door-key.pem"])
def test_a_certificate_that_cannot_be_used_is_told_before_anybody_listens(sealed: Served, broken: str) -> None:
    """Files that are missing, no certificate, or of another key are one clear refusal, which shows nothing of them."""
    check(sealed.file)
    path = sealed.folder / broken
    kept = path.read_text("utf-8")
    for text in ("nothing", kept.replace("MI", "MJ")):
        path.write_text(text, "utf-8")
        with pytest.raises(InvalidParameter, match=r"the certificate .* cannot be used; check that both files"):
            check(sealed.file)
    path.unlink()
    with pytest.raises(InvalidParameter, match="cannot be used"):
        check(sealed.file)


def test_a_key_of_another_certificate_is_refused(sealed: Served, tmp_path: Path) -> None:
    """A certificate and a key must belong together."""
    certify(tmp_path)
    (tmp_path / "door-key.pem").replace(sealed.folder / "door-key.pem")
    with pytest.raises(InvalidParameter, match="belong together"):
        check(sealed.file)
