#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An SMTP server on the loopback: mailserver.py DIR KIND [CERT KEY]

KIND: starttls (and a password), smtps, plain (neither), open (takes a password unencrypted), mute
(never answers). Messages go to DIR/KIND.N.eml with their envelope in DIR/KIND.N.json; the port is
written to DIR/KIND.port. User and password are "me" and "open sesame"; nobody@ is refused.
"""
import asyncio
import json
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

DIR, KIND = sys.argv[1:3]


class Handler:
    count = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 no such user here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        Handler.count += 1
        name = os.path.join(DIR, "%s.%d" % (KIND, Handler.count))
        with open(name + ".eml", "wb") as f:
            f.write(envelope.original_content)
        with open(name + ".json", "w", encoding="ascii") as f:
            json.dump({"from": envelope.mail_from, "to": envelope.rcpt_tos,
                       "tls": session.ssl is not None or KIND == "smtps",
                       "auth": bool(session.authenticated)}, f)
        return "250 taken"


def authenticate(server, session, envelope, mechanism, data):
    good = data.login == b"me" and data.password == b"open sesame"
    return AuthResult(success=good, handled=False)


def protocol(context):
    options = {}
    if KIND == "starttls":
        options = {"tls_context": context, "require_starttls": True, "auth_required": True,
                   "authenticator": authenticate}
    elif KIND == "open":
        options = {"auth_required": True, "auth_require_tls": False,
                   "authenticator": authenticate}
    elif KIND == "mute":
        return asyncio.Protocol()
    return SMTP(Handler(), hostname="localhost", **options)


async def main():
    context = None
    if len(sys.argv) > 3:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol(context), "127.0.0.1", 0, ssl=context if KIND == "smtps" else None)
    path = os.path.join(DIR, KIND + ".port")
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write(str(server.sockets[0].getsockname()[1]))
    os.rename(path + ".new", path)
    await server.serve_forever()


asyncio.run(main())
