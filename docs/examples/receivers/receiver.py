"""A receiver of webhooks with Python's standard library: `python3 receiver.py`.

It verifies each event, applies it once, and keeps the newest state for any order of arrival.
"""

import base64
import hashlib
import hmac
import json
import os
import sqlite3
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

PORT = int(os.environ.get("PORT", "4001"))
# The local host's secret is public. Yours is a secret: keep it in the environment.
SECRET = os.environ.get("WEBHOOK_SECRET", "whsec_bG9jYWwtd2ViaG9vay1zZWNyZXQtMDAwMDAwMDA=")
KEY = base64.b64decode(SECRET.removeprefix("whsec_"))
TOLERANCE_SECONDS = 300

database = sqlite3.connect(os.environ.get("DATABASE", ":memory:"))
database.executescript("""
  CREATE TABLE IF NOT EXISTS seen (webhook_id TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS payments (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, refunded_cents INTEGER NOT NULL, as_of TEXT NOT NULL);""")
KEEP_NEWEST = """
  INSERT INTO payments VALUES (:id, :status, coalesce(:refunded, 0), :at)
  ON CONFLICT (id) DO UPDATE SET status = :status, refunded_cents = coalesce(:refunded, refunded_cents), as_of = :at
  WHERE :at > as_of OR (:at = as_of AND status NOT IN ('succeeded', 'failed'))"""


def is_genuine(headers, body):
    """Standard Webhooks: a signature over id, timestamp and the raw body. A rotated secret adds a second signature."""
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    sent = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(f"v1,{expected}".encode(), one.encode()) for one in sent)


def apply_once(webhook_id, event):
    """In one transaction: an event that fails half-way is not remembered, and its retry is applied."""
    with database:
        inserted = database.execute("INSERT INTO seen VALUES (?) ON CONFLICT DO NOTHING", [webhook_id])
        if inserted.rowcount == 0:
            return "a repeat"
        data = event["data"]
        row = {
            "id": data["payment_id"],
            "status": data["status"],
            "refunded": data.get("refunded_cents"),
            "at": event["timestamp"],
        }
        database.execute(KEEP_NEWEST, row)
        return "applied"


def receive(headers, body):
    if not is_genuine(headers, body):
        return 401, "refused"
    if headers.get("webhook-test") == "true":
        return 200, "a test"
    # Raw events of a provider, such as provider_a:charge.succeeded, and other records are not needed here.
    if not headers.get("webhook-event", "").startswith("payment."):
        return 200, "not needed"
    return 200, apply_once(headers["webhook-id"], json.loads(body))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        status, outcome = receive(self.headers, body)
        print(f"{self.headers.get('webhook-event')} {self.headers.get('webhook-id')}: {outcome}", flush=True)
        self.answer(status)

    def do_GET(self):
        columns = ["id", "status", "refunded_cents", "as_of"]
        payment_id = self.path.removeprefix("/payments/")
        query = f"SELECT {', '.join(columns)} FROM payments WHERE id = ?"
        found = database.execute(query, [payment_id]).fetchone()
        self.answer(200 if found else 404, dict(zip(columns, found or [])))

    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def forward_from(local_host, url):
    """As `stripe listen --forward-to`: the local host sends a copy of every event here."""
    body = json.dumps({"forward_to": url}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{local_host}/_local/sink/default/behaviour", body)).close()


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", PORT), Receiver)
    own_url = f"http://127.0.0.1:{server.server_port}/"
    if os.environ.get("FORWARD_FROM"):
        forward_from(os.environ["FORWARD_FROM"], own_url)
    print(f"The receiver listens on {own_url}", flush=True)
    server.serve_forever()
