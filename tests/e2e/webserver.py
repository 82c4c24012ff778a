#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A web server on the loopback that behaves as its paths say: webserver.py DIR [CERT KEY]

Files of DIR are served; what is posted is appended to DIR/posts, but the first time it is refused.
The port is written to DIR/port (DIR/port-tls with a certificate).
"""
import http.server
import os
import ssl
import sys
import time

DIR = sys.argv[1]
REDIRECTS = {
    "/moved": "/table.txt",
    "/loop": "/loop",
    "/to-file": "file:///etc/passwd",
    "/to-gopher": "gopher://127.0.0.1/",
}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):  # pylint: disable=arguments-differ
        with open(os.path.join(DIR, "requests"), "a", encoding="ascii") as f:
            f.write("%s %s\n" % (self.path, self.headers["User-Agent"]))

    def answer(self, status, headers=(), body=b""):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        name = os.path.join(DIR, "posts")
        known = os.path.exists(name)
        with open(name, "ab") as f:
            if known:
                f.write(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(204 if known else 503)

    def do_GET(self):
        if self.path in REDIRECTS:
            return self.answer(302, [("Location", REDIRECTS[self.path])])
        if self.path == "/to-http":
            with open(os.path.join(DIR, "port"), encoding="ascii") as f:
                return self.answer(302, [("Location", "http://127.0.0.1:%s/table.txt" % f.read())])
        if self.path == "/endless":
            self.answer(200, [("Content-Type", "text/plain")])
            while True:
                self.wfile.write(b"5.1 5.2\n" * 131072)
        if self.path == "/long":
            return self.answer(200, [("Content-Length", str(1 << 40))])
        if self.path == "/slow":
            self.answer(200, [("Content-Length", "100")], b"5.1: ")
            time.sleep(60)
            return None
        if self.path == "/cut":
            return self.answer(200, [("Content-Length", "1000")], b"5.1: base\n")
        try:
            with open(DIR + self.path, "rb") as f:
                body = f.read()
        except OSError:
            return self.answer(404, [("Content-Type", "text/plain")], b"5.1: no such page\n")
        kind = "text/html" if self.path.endswith(".html") else "text/plain"
        return self.answer(200, [("Content-Type", kind), ("Content-Length", str(len(body)))], body)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # a client that has read enough


def main():
    server = Server(("127.0.0.1", 0), Handler)
    name = "port"
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
        name = "port-tls"
    with open(os.path.join(DIR, name + ".new"), "w", encoding="ascii") as f:
        f.write(str(server.server_address[1]))
    os.rename(os.path.join(DIR, name + ".new"), os.path.join(DIR, name))
    server.serve_forever()


main()
