"""Sixty kinds of secret, each in a text as it comes up in an agent's work."""

from typing import Final

# What must not be left of any of them, and nothing else holds.
MARKER: Final = "Vk7Qp3Lx9T"
HEX_MARKER: Final = "b7e4d90c6f"
_LONG: Final = f"Jt5R{MARKER}w2Ns8Yb4Gd6Hc1Mf0Za"
_HEX: Final = f"{HEX_MARKER}48a1f2c35d7e9b06a4c8d1e2f3{HEX_MARKER}"

KINDS: Final = {
    "OpenAI": f"401 for key sk-proj-{_LONG}",
    "Anthropic": f"client = Anthropic(api_key='sk-ant-api03-{_LONG}-AA')",
    "GitHub, classic": f"remote: invalid credentials ghp_{_LONG}",
    "GitHub, fine-grained": f"use github_pat_11AAAA_{_LONG} instead",
    "GitHub, of an app": f"installation ghs_{_LONG} expired",
    "GitLab": f"glab auth status: glpat-{_LONG}",
    "Slack, bot": f"posting with xoxb-123456789012-{_LONG}",
    "Slack, webhook": f"POST https://hooks.slack.com/services/T000/B000/{_LONG}",
    "Discord, bot": f"client.run('MTE4NzU2MjM0NTY3ODkwMTIz.GhJkLm.{_LONG}')",
    "Discord, webhook": f"https://discord.com/api/webhooks/1187562/{_LONG}",
    "Telegram": f"https://api.telegram.org/bot1187562345:AAH{_LONG}/getMe",
    "AWS, key id": "aws sts with AKIAVK7QP3LX9TJT5RW2",
    "AWS, secret": f"aws_secret_access_key = {_LONG}/x1y2",
    "AWS, presigned": f"https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={_HEX}",
    "AWS, session": f"export AWS_SESSION_TOKEN=FwoGZXIvYXdz{_LONG}",
    "Google, key": f"maps?key=AIzaSy{_LONG}ab",
    "Google, OAuth": f"ya29.a0Af{_LONG}",
    "Google, presigned": f"https://storage.googleapis.com/b/k?X-Goog-Signature={_HEX}",
    "Azure, storage": f"AccountName=shop;AccountKey={_LONG}==;EndpointSuffix=x",
    "Azure, SAS": f"https://shop.blob.core.windows.net/c?sv=2024&sig={_LONG}%3D",
    "npm": f"//registry.npmjs.org/:_authToken=npm_{_LONG}",
    "PyPI": f"twine upload -u __token__ -p pypi-AgEI{_LONG}",
    "Docker": f"docker login -u bob -p dckr_pat_{_LONG}",
    "Hugging Face": f"HF_TOKEN=hf_{_LONG}",
    "Stripe": f"Stripe.api_key = sk_live_{_LONG}",
    "SendGrid": f"SG.{_LONG}.{_LONG}",
    "Twilio": f"twilio AC{_HEX[:32]}",
    "DigitalOcean": f"doctl auth init -t dop_v1_{_HEX}",
    "Vault": f"VAULT_TOKEN=hvs.{_LONG}",
    "Databricks": f"dapi{_HEX[:32]}",
    "age": "AGE-SECRET-KEY-1VK7QP3LX9TJT5RW2NS8YB4GD6HC1MF0ZAXX",
    "JWT": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.{_LONG}",
    "Bearer": f"curl -H 'Authorization: Bearer {MARKER}abc' https://e.com",
    "Basic": f"authorization: Basic Ym9iOnNl{MARKER}==",
    "cookie": f"Cookie: sid={MARKER}; theme=dark",
    "header": f"X-Api-Key: {MARKER}",
    "URL of a database": f"postgresql://app:{MARKER}@db:5432/app",
    "URL of a broker": f"amqp://guest:{MARKER}@mq/",
    "URL of a repository": f"git clone https://bob:{MARKER}@git.example.com/a.git",
    "URL with a token": f"GET https://e.com/cb?access_token={MARKER}&x=1",
    "variable": f"DB_PASSWORD={MARKER} make migrate",
    "option": f"mysqldump --password={MARKER} shop",
    "short option": f"mysql -uroot -p{MARKER} shop",
    "curl -u": f"curl -u bob:{MARKER} https://e.com",
    "sshpass": f"sshpass -p {MARKER} ssh bob@host",
    "redis-cli": f"redis-cli -a {MARKER} ping",
    "stdin": f"echo {MARKER} | docker login --password-stdin",
    "JSON": f'{{"user": "bob", "client_secret": "{MARKER}"}}',
    "YAML": f"smtp:\n  password: {MARKER}\n  port: 25",
    "TOML": f"api_key = '{MARKER}'",
    "XML": f"<password>{MARKER}</password>",
    "Dockerfile": f"ENV API_TOKEN {MARKER}",
    "SQL": f"CREATE USER bob IDENTIFIED BY '{MARKER}'",
    "connection": f"Server=db;User Id=sa;Password={MARKER};",
    "private key": f"-----BEGIN RSA PRIVATE KEY-----\n{_LONG}\n-----END RSA PRIVATE KEY-----",
    "private key, cut off": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{_LONG}",
    "in words": f"the password is {MARKER}",
    "in German": f"Das Passwort lautet {MARKER}",
    "in Chinese": f"密码：{MARKER}",
    "unknown": f"handed over as {_LONG}Q8w3E5r7T9y1U2i4",
}
PARTS: Final = tuple(part.encode()[:8] for part in (MARKER, MARKER.upper(), HEX_MARKER))
assert len(KINDS) == 60
