#!/usr/bin/env python3
"""NATS and etcd as people run them, with TLS, certificates of clients, tokens, passwords and JWTs: the emitter and the
provider skydns get in with what is right, say what is in the way with what is wrong, and show nobody's secret."""

import base64
import binascii
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from emitter_tools import Child
from harness import BINARY, START_SECONDS, Fairlead, main, until
from router_tools import free_port

SECRETS = ("t0ken-of-nats", "pa55word-of-nats", "pa55word-of-etcd")


def openssl(*words, **more):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, **more).stdout


def certificate(folder, name, ca=None, usage="serverAuth,clientAuth"):
    """(certificate, key) for 127.0.0.1, signed by `ca`, or an authority."""
    crt, key, csr, ext = (Path(folder) / f"{name}.{each}" for each in ("crt", "key", "csr", "ext"))
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    if ca is None:
        openssl("req", "-x509", *curve, "-keyout", key, "-out", crt, "-subj", f"/CN={name}", "-days", "2")
        return crt, key
    ext.write_text(f"subjectAltName=IP:127.0.0.1,DNS:localhost,email:{name}@example.net\nextendedKeyUsage={usage}\n")
    # Without a common name: etcd would take it for a user.
    openssl("req", *curve, "-keyout", key, "-out", csr, "-subj", f"/O={name}")
    openssl("x509", "-req", "-in", csr, "-CA", ca[0], "-CAkey", ca[1], "-CAcreateserial", "-days", "2", "-extfile", ext, "-out", crt)
    return crt, key


class NKey:
    """An Ed25519 key in NATS's clothes."""
    KINDS = {"operator": 14 << 3, "account": 0, "user": 20 << 3}

    def __init__(self, folder, kind):
        self.kind, self.file = kind, Path(folder) / f"{kind}.pem"
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        self.raw_public = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        self.raw_seed = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]

    @staticmethod
    def text(data):
        return base64.b32encode(data + binascii.crc_hqx(data, 0).to_bytes(2, "little")).decode().rstrip("=")

    @property
    def public(self):
        return self.text(bytes([self.KINDS[self.kind]]) + self.raw_public)

    @property
    def seed(self):
        kind = self.KINDS[self.kind]
        return self.text(bytes([(18 << 3) | (kind >> 5), (kind & 31) << 3]) + self.raw_seed)

    def jwt(self, subject, kind, **claims):
        part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=")
        whole = {"jti": "test", "iat": int(time.time()), "iss": self.public, "sub": subject, "name": kind,
                 "nats": {"type": kind, "version": 2, **claims}}
        text = part(b'{"typ":"JWT","alg":"ed25519-nkey"}') + b"." + part(json.dumps(whole).encode())
        with tempfile.NamedTemporaryFile() as file:
            file.write(text)
            file.flush()
            return (text + b"." + part(openssl("pkeyutl", "-sign", "-inkey", self.file, "-rawin", "-in", file.name))).decode()


class Nats(Child):
    def __init__(self, folder, config):
        self.port, self.monitor = free_port("127.0.0.1"), free_port("127.0.0.1")
        file = Path(folder) / "nats.conf"
        file.write_text(f'listen: "127.0.0.1:{self.port}"\nhttp: "127.0.0.1:{self.monitor}"\n{config}\n')
        super().__init__(folder, "nats", "nats-server", "-c", file)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}{path}", timeout=10) as answer:
            return json.load(answer)

    def emitter(self):
        """What the server says of the emitter's connection, once it has registered something: greetings are empty."""
        try:
            found = self.get("/connz?auth=true")["connections"]
        except OSError:
            return None
        return next((each for each in found or () if each["name"].startswith("fairlead-emitter") and each["in_bytes"] > 100), None)


class SecuredNatsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Fairlead().start()
        cls.addClassCleanup(cls.server.remove)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.shared = Path(folder.name)
        lrp = {"process_guid": "web", "domain": "apps", "rootfs": "preloaded:x", "action": {"run": {"path": "/x", "user": "x"}},
               "ports": [4000], "instances": 1, "routes": {"cf-router": [{"port": 4000, "routes": ["foo.com"]}]}}
        instance = {"state": "RUNNING", "instance_guid": "web-0", "cell_id": "c", "address": "10.10.1.2",
                    "ports": [{"container_port": 4000, "host_port": 59001}]}
        assert cls.server.request("POST", "/v1/desired_lrps", lrp)[0] == 201
        assert cls.server.request("PUT", "/v1/actual_lrps/web/index/0", instance)[0] == 201
        cls.kubeconfig = cls.shared / "emitter.kubeconfig"
        cls.kubeconfig.write_text(cls.server.cli("token", "create", "--user", "e", "--group", "fairlead:emitters", "-o",
                                                 "kubeconfig").stdout)
        cls.ca = certificate(cls.shared, "ca")
        cls.nats_tls = certificate(cls.shared, "nats", cls.ca)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def nats(self, config):
        nats = Nats(self.folder, config).start()
        self.addCleanup(nats.end)
        return nats

    def emitter(self, nats, *words, scheme="nats"):
        port = free_port("127.0.0.1")
        url = () if "--nats" in words else ("--nats", f"{scheme}://127.0.0.1:{nats.port}")
        emitter = Child(self.folder, f"emitter-{port}", BINARY, "emitter", *url, "--kubeconfig", self.kubeconfig, "--no-lease",
                        "--listen", f"127.0.0.1:{port}", "--log-level", "debug", *words).start()
        self.addCleanup(emitter.end)
        emitter.ready = f"http://127.0.0.1:{port}/readyz"
        return emitter

    def works(self, nats, *words, **more):
        emitter = self.emitter(nats, *words, **more)
        emitter.line(r"^(ready) ")
        connection = until(nats.emitter, "it registers", START_SECONDS)
        self.shows_no_secret(emitter)
        emitter.end()
        return connection

    def refused(self, nats, text, *words, **more):
        """Says so, tries again, and is not ready."""
        emitter = self.emitter(nats, *words, **more)

        def told():
            try:
                with urllib.request.urlopen(emitter.ready, timeout=10):
                    return False
            except urllib.error.HTTPError as answer:
                return text in answer.read().decode().lower()
            except OSError:
                return False
        emitter.line(r"(NATS is away)")
        until(told, f"/readyz says {text}", START_SECONDS)
        self.shows_no_secret(emitter)
        emitter.end()

    def shows_no_secret(self, emitter):
        for secret in SECRETS:
            self.assertNotIn(secret, emitter.text())

    def test_a_token(self):
        nats = self.nats('authorization { token: "t0ken-of-nats" }')
        self.works(nats, "--nats-token-file", self.file("token", "t0ken-of-nats\n"))
        self.works(nats, "--nats", f"nats://t0ken-of-nats@127.0.0.1:{nats.port}")
        self.refused(nats, "authorization", "--nats-token-file", self.file("wrong", "t0ken-of-natz"))
        self.refused(nats, "authorization")

    def test_a_user_with_a_password(self):
        nats = self.nats('authorization { users: [ { user: "emitter", password: "pa55word-of-nats", permissions: '
                         '{ publish: "router.>", subscribe: ["router.>", "_INBOX.>"] } } ] }')
        connection = self.works(nats, "--nats-user", "emitter", "--nats-password-file", self.file("password", "pa55word-of-nats\n"))
        self.assertEqual("emitter", connection["authorized_user"])
        self.works(nats, "--nats", f"nats://emitter:pa55word-of-nats@127.0.0.1:{nats.port}")
        self.refused(nats, "authorization", "--nats-user", "emitter", "--nats-password-file", self.file("wrong", "pa55word-of-natz"))

    def tls(self, more):
        return (f'tls {{ cert_file: "{self.nats_tls[0]}", key_file: "{self.nats_tls[1]}", ca_file: "{self.ca[0]}", {more} }}')

    def test_a_certificate_of_the_client(self):
        mine = certificate(self.folder, "emitter", self.ca)
        stranger = certificate(self.folder, "stranger", certificate(self.folder, "other"))
        nats = self.nats(self.tls("verify: true"))
        ca = ("--nats-ca", self.ca[0])
        connection = self.works(nats, *ca, "--nats-certificate", mine[0], "--nats-key", mine[1], scheme="tls")
        self.assertTrue(connection["tls_version"])
        # The scheme may also say nats: the server asks for TLS, and the CA says that we know.
        self.works(nats, *ca, "--nats-certificate", mine[0], "--nats-key", mine[1])
        hint = "it may want a certificate of the client"
        self.refused(nats, hint, *ca, scheme="tls")
        self.refused(nats, hint, *ca, "--nats-certificate", stranger[0], "--nats-key", stranger[1], scheme="tls")

    def test_a_certificate_that_says_which_user(self):
        mine = certificate(self.folder, "emitter", self.ca)
        nats = self.nats(self.tls("verify_and_map: true") + '\nauthorization { users: [ { user: "emitter@example.net" } ] }')
        connection = self.works(nats, "--nats-ca", self.ca[0], "--nats-certificate", mine[0], "--nats-key", mine[1], scheme="tls")
        self.assertEqual("emitter@example.net", connection["authorized_user"])

    def test_the_servers_certificate_is_checked(self):
        nats = self.nats(self.tls("verify: false"))
        other = certificate(self.folder, "other")
        self.works(nats, "--nats-ca", self.ca[0], scheme="tls")
        self.works(nats, "--nats-ca", self.ca[0], "--nats-server-name", "localhost", scheme="tls")
        self.refused(nats, "issuer certificate", "--nats-ca", other[0], scheme="tls")
        self.refused(nats, "hostname mismatch", "--nats-ca", self.ca[0], "--nats-server-name", "nats.example.net", scheme="tls")

    def test_a_jwt_and_its_seed(self):
        operator, account, user = (NKey(self.folder, kind) for kind in ("operator", "account", "user"))
        limits = {"subs": -1, "data": -1, "payload": -1}
        accounts = operator.jwt(account.public, "account", limits={**limits, "imports": -1, "exports": -1, "wildcards": True,
                                                                  "conn": -1, "leaf": -1})
        nats = self.nats(f'operator: "{operator.jwt(operator.public, "operator")}"\nresolver: MEMORY\n'
                         f'resolver_preload: {{ {account.public}: "{accounts}" }}')

        def credentials(name, key):
            token = account.jwt(user.public, "user", **limits)
            return self.file(name, f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                                   f"-----BEGIN USER NKEY SEED-----\n{key.seed}\n------END USER NKEY SEED------\n")
        connection = self.works(nats, "--nats-credentials", credentials("good.creds", user))
        self.assertEqual(user.public, connection["authorized_user"])
        (self.folder / "again").mkdir()
        self.refused(nats, "authorization", "--nats-credentials", credentials("bad.creds", NKey(self.folder / "again", "user")))
        self.refused(nats, "authorization")

    def test_an_nkey_alone(self):
        user = NKey(self.folder, "user")
        nats = self.nats(f'authorization {{ users: [ {{ nkey: "{user.public}" }} ] }}')
        connection = self.works(nats, "--nats-nkey-seed-file", self.file("user.nk", user.seed + "\n"))
        self.assertEqual(user.public, connection["authorized_user"])
        decorated = f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
        self.works(nats, "--nats-nkey-seed-file", self.file("decorated.nk", decorated))
        (self.folder / "again").mkdir()
        stranger = NKey(self.folder / "again", "user")
        self.refused(nats, "authorization", "--nats-nkey-seed-file", self.file("stranger.nk", stranger.seed))
        self.refused(nats, "authorization")
        broken = user.seed[:-1] + ("A" if user.seed[-1] != "A" else "B")
        emitter = self.emitter(nats, "--nats-nkey-seed-file", self.file("broken.nk", broken))
        self.assertEqual(2, emitter.process.wait(START_SECONDS))
        self.assertIn("broken.nk", emitter.text())
        self.assertNotIn(broken[:20], emitter.text())


class Etcd(Child):
    def __init__(self, folder, ca, own, client_certificates):
        self.ca, self.own = ca, own
        client, peer = (f"https://127.0.0.1:{free_port('127.0.0.1')}", f"http://127.0.0.1:{free_port('127.0.0.1')}")
        self.url = client
        super().__init__(folder, "etcd", "etcd", "--data-dir", Path(folder) / "data", "--listen-client-urls", client,
                         "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                         "--initial-cluster", f"default={peer}", "--cert-file", own[0], "--key-file", own[1],
                         *(["--client-cert-auth", "--trusted-ca-file", ca[0]] if client_certificates else []))

    def start(self):
        super().start()

        def answers():
            said = self.ctl("get", "x", check=False)
            return said.returncode == 0 or "user name is empty" in said.stderr  # who we are can be asked later
        until(answers, "etcd answers", START_SECONDS)
        return self

    def ctl(self, *words, user=None, check=True):
        login = ("--user", user) if user else ()
        # Its own certificate is good for clients too.
        return subprocess.run(["etcdctl", "--endpoints", self.url, "--cacert", self.ca[0], "--cert", self.own[0], "--key",
                               self.own[1], *login, *words], capture_output=True, text=True, timeout=60, check=check,
                              env={**os.environ, "ETCDCTL_API": "3"})

    def keys(self, user=None):
        """Nothing while it does not answer: a login may be too old the moment it is made."""
        said = self.ctl("get", "--prefix", "/skydns/", "--keys-only", user=user, check=False)
        return said.stdout.split() if said.returncode == 0 else None


class SecuredEtcdTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.ca = certificate(self.folder, "ca")
        self.own = certificate(self.folder, "etcd", self.ca)

    def etcd(self, client_certificates=False):
        etcd = Etcd(self.folder, self.ca, self.own, client_certificates).start()
        self.addCleanup(etcd.end)
        return etcd

    def serve(self, etcd, *words):
        """A server with one instance under a name of the provider skydns."""
        server = Fairlead("--skydns-etcd", etcd.url, "--skydns-lease", "5s", *map(str, words)).start()
        self.addCleanup(server.remove)
        lrp = {"process_guid": "web", "domain": "apps", "rootfs": "preloaded:x", "action": {"run": {"path": "/x", "user": "x"}},
               "ports": [5000], "instances": 1, "routes": {"skydns": [{"port": 5000, "host": "api.skydns.local"}]}}
        instance = {"state": "RUNNING", "instance_guid": "web-0", "cell_id": "c", "address": "10.10.1.2",
                    "ports": [{"container_port": 5000, "host_port": 59002}]}
        self.assertEqual(201, server.request("POST", "/v1/desired_lrps", lrp)[0])
        self.assertEqual(201, server.request("PUT", "/v1/actual_lrps/web/index/0", instance)[0])
        return server

    def condition(self, server):
        lrp = json.loads(server.kubectl("get", "desiredlrp", "web", "-n", "diego", "-o", "json").stdout)
        found = [each for each in lrp.get("status", {}).get("conditions", []) if each["type"] == "SkyDNS"]
        return (found[0]["reason"], found[0]["message"]) if found else ("", "")

    def test_https_and_a_login(self):
        etcd = self.etcd()
        password = self.folder / "password"
        password.write_text("pa55word-of-etcd\n")
        root = "root:r00t"
        etcd.ctl("user", "add", root)
        etcd.ctl("user", "add", "fairlead:pa55word-of-etcd")
        etcd.ctl("role", "add", "skydns")
        etcd.ctl("role", "grant-permission", "skydns", "--prefix=true", "readwrite", "/skydns/")
        etcd.ctl("user", "grant-role", "root", "root", check=False)
        etcd.ctl("user", "grant-role", "fairlead", "skydns")
        etcd.ctl("auth", "enable")
        server = self.serve(etcd, "--skydns-etcd-ca", self.ca[0], "--skydns-etcd-user", "fairlead", "--skydns-etcd-password-file",
                            password)
        key = until(lambda: etcd.keys(root), "the key is there", START_SECONDS)
        self.assertTrue(key[0].startswith("/skydns/local/skydns/api/0/"), key)
        until(lambda: self.condition(server)[0] == "Accepted", "the condition says so")
        # The login outlives its lease, and a restart of etcd, which forgets tokens.
        etcd.end()
        etcd.start()
        until(lambda: server.request("DELETE", "/v1/actual_lrps/web/index/0")[0] in (204, 404), "the instance is gone")
        until(lambda: etcd.keys(root) == [], "its key too", START_SECONDS)
        self.assertNotIn("pa55word-of-etcd", server.log_text())

    def test_a_wrong_login_is_told(self):
        etcd = self.etcd()
        etcd.ctl("user", "add", "root:r00t")
        etcd.ctl("user", "grant-role", "root", "root", check=False)
        etcd.ctl("auth", "enable")
        password = self.folder / "password"
        password.write_text("pa55word-of-etcd")
        server = self.serve(etcd, "--skydns-etcd-ca", self.ca[0], "--skydns-etcd-user", "root", "--skydns-etcd-password-file", password)
        until(lambda: "authentication failed" in self.condition(server)[1], "the condition says why")
        self.assertEqual(self.condition(server)[0], "EtcdUnavailable")
        self.assertNotIn("pa55word-of-etcd", server.log_text())

    def test_a_certificate_of_the_client(self):
        etcd = self.etcd(client_certificates=True)
        mine = certificate(self.folder, "fairlead", self.ca, usage="clientAuth")
        self.serve(etcd, "--skydns-etcd-ca", self.ca[0], "--skydns-etcd-cert", mine[0], "--skydns-etcd-key", mine[1])
        until(etcd.keys, "the key is there", START_SECONDS)

    def test_without_a_certificate_or_with_another_authority(self):
        etcd = self.etcd(client_certificates=True)
        stranger = certificate(self.folder, "other")
        for words in ((self.ca[0],), (stranger[0],)):
            server = self.serve(etcd, "--skydns-etcd-ca", *words)
            until(lambda: self.condition(server)[0] == "EtcdUnavailable", "the condition says so")
            self.assertEqual([], etcd.keys())


if __name__ == "__main__":
    main()
