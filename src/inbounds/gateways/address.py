"""Where a gateway listens: an address that is read from the command line, and taken before anybody is told of it."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown

BACKLOG = 128
"""So many wait at the door."""


@dataclass(frozen=True)
class Address:
    """A numeric address of this machine, and a port; 0 for one that the system chooses."""

    host: str
    port: int

    @classmethod
    def read(cls, text: str, option: str) -> Address:
        """Read an address such as 127.0.0.1:8751 or [::1]:8751."""
        found = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+|localhost)):([0-9]{1,5})", text.strip())
        try:
            host = (
                ""
                if found is None
                else str(ip_address("127.0.0.1" if found[2] == "localhost" else found[1] or found[2]))
            )
        except ValueError:
            host = ""
        if found is None or not host or int(found[3]) > 65535:
            raise InvalidParameter(
                f"{option} must be a numeric address and a port, got {shown(text)}; write it like 127.0.0.1:8751"
            )
        return cls(host, int(found[3]))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect to it."""
        return ip_address(self.host).is_loopback

    @property
    def text(self) -> str:
        """The address as it stands in a URL."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def listen(self) -> tuple[socket.socket, Address]:
        """Take the address; return what listens there, and the address with its port."""
        listener = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # which connections take over
            listener.bind((self.host, self.port))
            listener.listen(BACKLOG)
        except OSError as problem:
            listener.close()
            why = problem.strerror or type(problem).__name__
            raise InvalidParameter(
                f"cannot listen on {self.text}: {why}; stop what listens there, or choose another port"
            ) from None
        return listener, Address(self.host, listener.getsockname()[1])
