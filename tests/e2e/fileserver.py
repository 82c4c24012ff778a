#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Serves DIR/file on the loopback as badly as its paths say: fileserver.py DIR

The port is written to DIR/port, every request to DIR/requests ("/break Range: bytes=100-").
"""
import http.server
import os
import sys
import time

DIR = sys.argv[1]
SEEN = {}


def content():
    with open(os.path.join(DIR, "file"), "rb") as f:
        return f.read()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):  # pylint: disable=arguments-differ
        with open(os.path.join(DIR, "requests"), "a", encoding="ascii") as f:
            f.write("%s Range: %s If-Range: %s\n" % (
                self.path, self.headers["Range"], self.headers["If-Range"]))

    def send(self, body, limit=None, tag='"one"', length=None, ranges=True, stall=0):
        """The whole body or what Range asks for; at most limit bytes of it."""
        start = 0
        asked = self.headers["Range"]
        if asked and ranges and self.headers["If-Range"] in (None, tag):
            start = int(asked.split("=")[1].rstrip("-"))
        if start >= len(body) > 0:
            self.send_response(416)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(body) - 1, len(body)))
        if tag:
            self.send_header("ETag", tag)
        self.send_header("Content-Length", str((length or len(body)) - start))
        self.end_headers()
        part = body[start:] if limit is None else body[start:start + limit]
        self.wfile.write(part)
        self.wfile.flush()
        if stall:
            time.sleep(stall)
        self.close_connection = True

    def do_GET(self):
        body = content()
        count = SEEN[self.path] = SEEN.get(self.path, 0) + 1
        if self.path == "/good":
            return self.send(body)
        if self.path == "/break":  # a quarter for each connection
            return self.send(body, limit=len(body) // 4 + 1)
        if self.path == "/once":  # half, then nothing but errors until DIR/mended
            if count > 1 and not os.path.exists(os.path.join(DIR, "mended")):
                return self.send_error(404)
            return self.send(body, limit=len(body) // 2 if count == 1 else None)
        if self.path == "/stall":  # half, then silence; the second connection is fine
            return self.send(body, limit=len(body) // 2 if count == 1 else None,
                             stall=30 if count == 1 else 0)
        if self.path == "/norange":  # breaks once, and knows no ranges
            return self.send(body, limit=len(body) // 2 if count == 1 else None, ranges=False)
        if self.path == "/changed":  # another file at the second connection
            if count == 1:
                return self.send(b"old" * len(body), limit=1000, tag='"old"')
            return self.send(body, tag='"new"')
        if self.path == "/wrong":
            return self.send(body[:-1] + bytes([body[-1] ^ 1]))
        if self.path == "/promises":  # more than it sends
            return self.send(body, length=len(body) + 1000)
        if self.path == "/larger":
            return self.send(body + b"more")
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/good")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        if self.path == "/to-file":
            self.send_response(302)
            self.send_header("Location", "file://" + os.path.join(DIR, "file"))
            self.end_headers()
            return None
        return self.send_error(404)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that has read enough


def main():
    server = Server(("127.0.0.1", 0), Handler)
    with open(os.path.join(DIR, "port.new"), "w", encoding="ascii") as f:
        f.write(str(server.server_address[1]))
    os.rename(os.path.join(DIR, "port.new"), os.path.join(DIR, "port"))
    server.serve_forever()


main()
