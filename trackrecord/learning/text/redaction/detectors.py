"""The table of secrets: what each kind looks like.

detect-secrets was weighed and left: it finds which lines hold secrets, at about a millisecond a
line, and replaces none. Every expression begins at a literal or a guarded place and its repetitions
are bounded or possessive, so that the time is linear in the text.
"""

import re
from typing import Final

PLACEHOLDER: Final = "<secret>"

# Keys and tokens that their makers gave a form of their own.
_TOKENS: Final = (
    # OpenAI, Anthropic, OpenRouter, DeepSeek, Stripe: "sk-…", "sk_live_…"
    r"sk-[A-Za-z0-9_-]{16,}+",
    r"(?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,}+",
    r"whsec_[A-Za-z0-9+/=]{16,}+",
    # GitHub, GitLab, Bitbucket, Atlassian
    r"gh[opusr]_[A-Za-z0-9]{16,}+",
    r"github_pat_[A-Za-z0-9_]{20,}+",
    r"gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent|oas)-[\w.=-]{16,}+",
    r"AT(?:ATT3|BB|CTT3)[A-Za-z0-9_=-]{20,}+",
    # Slack, Discord, Telegram
    r"xox[a-z]-[A-Za-z0-9-]{8,}+",
    r"xapp-[A-Za-z0-9-]{10,}+",
    r"https://hooks\.slack\.com/(?:services|workflows)/[\w/+-]{10,}+",
    r"https://(?:\w{1,16}\.)?discord(?:app)?\.com/api/webhooks/[\w/-]{10,}+",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}+",
    # Amazon, Google, Microsoft
    r"(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA|ABIA|ACCA)[A-Z0-9]{12,}+",
    r"AIza[A-Za-z0-9_-]{30,}+",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    r"GOCSPX-[A-Za-z0-9_-]{16,}+",
    r"1//0[A-Za-z0-9_-]{30,}+",
    # Package registries
    r"npm_[A-Za-z0-9]{20,}+",
    r"pypi-[A-Za-z0-9_-]{20,}+",
    r"rubygems_[a-f0-9]{20,}+",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}+",
    # Makers of models
    r"(?:hf|api_org)_[A-Za-z0-9]{20,}+",
    r"gsk_[A-Za-z0-9]{20,}+",
    r"xai-[A-Za-z0-9]{20,}+",
    r"r8_[A-Za-z0-9]{20,}+",
    r"pplx-[A-Za-z0-9]{20,}+",
    r"nvapi-[A-Za-z0-9_-]{20,}+",
    r"tvly-[A-Za-z0-9-]{16,}+",
    r"ls(?:v2_)?_?(?:pt|sk)_[a-f0-9_]{20,}+",
    r"(?:pk|sk)-lf-[a-f0-9-]{20,}+",
    # Hosts and services
    r"do[opr]_v1_[a-f0-9]{20,}+",
    r"SG\.[\w-]{16,}+\.[\w-]{16,}+",
    r"key-[0-9a-f]{32}",
    r"(?:SK|AC)[0-9a-f]{32}",
    r"sq0(?:atp|csp)-[\w-]{20,}+",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{20,}+",
    r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}+",
    r"(?:secret|ntn)_[A-Za-z0-9]{32,}+",
    r"figd_[\w-]{20,}+",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{20,}+",
    r"sb[ps]_[A-Za-z0-9_]{20,}+",
    r"sb_(?:secret|publishable)_[\w-]{16,}+",
    r"sntry[su]_[\w=+/-]{20,}+",
    r"PMAK-[a-f0-9-]{20,}+",
    r"NR(?:AK|JS|II)-[A-Za-z0-9]{16,}+",
    r"HRKU-[\w-]{20,}+",
    r"pscale_(?:tkn|pw|oauth)_[\w.=-]{20,}+",
    r"hv[sbr]\.[\w-]{20,}+",
    r"dapi[a-f0-9]{32}(?:-\d)?",
    r"EAAC[A-Za-z0-9]{20,}+",
    r"glsa_[\w]{20,}+|glc_[A-Za-z0-9+/=]{20,}+",
    r"rnd_[A-Za-z0-9]{20,}+",
    r"fo1_[\w-]{20,}+|fm[12]_[\w+/=,-]{20,}+",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,}+",
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}+",
    # trackrecord's own, see access_tokens.py, also cut off
    r"trk_[0-9a-f]{12}_[0-9a-f]{8,}+",
    # JSON Web Tokens, also without their signature
    r"eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+)?",
)
# A form of its own begins where no word goes on.
TOKEN: Final = re.compile(rf"(?<![A-Za-z0-9_])(?:{'|'.join(_TOKENS)})")

# A block may be cut off at either side.
PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?!-----END)[^\0])*+(?:-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
    r"|PuTTY-User-Key-File-\d:(?:(?!Private-MAC)[^\0])*+(?:Private-MAC: ?\w++)?"
)
PRIVATE_KEY_END: Final = re.compile(
    r"\A(?:(?!-----BEGIN)[^\0])*?-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)

# https://user:password@host, postgresql://:password@host, https://token@host
URL_PASSWORD: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,256}:)[^\s/@\"'<>]{1,512}"
    r"(?:@(?=[^\s/@\"'<>]{0,512}@)[^\s/@\"'<>]{0,512})?(?=@)"
)
URL_TOKEN: Final = re.compile(
    r"(?<![A-Za-z0-9+.-])(https?://)(?!(?:git|user|username|admin|root|oauth2)@)"
    r"[^\s/:@\"'<>]{8,512}(?=@)"
)

# Headers of HTTP.
HEADER: Final = re.compile(
    r"(\b(?:proxy-)?authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token|digest|negotiate"
    r"|apikey|aws4-hmac-sha256)\s{1,4})?)[^\s\"',;\\]{3,}+",
    re.IGNORECASE,
)
BEARER: Final = re.compile(r"\b(bearer\s{1,4})[A-Za-z0-9_.~+/=-]{8,}+", re.IGNORECASE)
COOKIE: Final = re.compile(
    r"\b((?:set-)?cookie[\"']?\s{0,4}:\s{0,4})[^\"'\r\n]{3,}+", re.IGNORECASE
)

_NAMES: Final = (
    r"pass(?:word|wd|phrase|code)|(?<![A-Za-z])(?:pass|pwd|pw|pat)(?![A-Za-z])|[_-]pwd|pgpassword"
    r"|secrets?|token(?!s|iz|is)|api[_-]?key|apikey|access[_-]?key|account[_-]?key|shared[_-]?access[_-]?\w{0,20}"
    r"|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?key|master[_-]?key|service[_-]?key"
    r"|subscription[_-]?key|credentials?|client[_-]?secret|webhook[_-]?(?:url|secret)|session[_-]?id"
    r"|x-api-key|(?<![A-Za-z])(?:sig|otp|pin|salt|dsn|auth|密码|口令|密钥|令牌)(?![A-Za-z])"
)
# A name in front of its value, as in a shell, in JSON, in YAML, in a connection string: what stands
# between them is sought first, because that is quick, and then what stands before and behind it.
# Each alternative begins with a letter of its own, which is what makes the search quick.
SEPARATOR: Final = re.compile(r"!={1,2}|=={1,2}|:=?|=>?|：|i(?<=\si)s\s|是|为")
NAME_BEFORE: Final = re.compile(
    rf"(?:{_NAMES})[\w.-]{{0,40}}[\\\"'\]]{{0,3}}\s{{0,8}}\Z", re.IGNORECASE
)
LONGEST_BEFORE: Final = 96
VALUE_BEHIND: Final = re.compile(
    r"""
    (\s{0,8})
    (?: (\\?")(?:[^"\\\n]|\\[^"\n])++
      | (\\?')(?:[^'\\\n]|\\[^'\n])++
      | ([^\s"'`,;&|)}\]<>]++) )
    """,
    re.VERBOSE,
)
# --password value, --token=value: any value, whatever it looks like.
FLAG: Final = re.compile(
    rf"(-(?<!\S-)-?[\w-]{{0,40}}(?:{_NAMES})[\w-]{{0,20}}(?:\s{{1,4}}|=))"
    r"(?![-\s])(?:\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s;&|]{1,4096})",
    re.IGNORECASE,
)
# curl -u user:password, mysql -psecret, sshpass -p secret
USER: Final = re.compile(
    r"((?<!\S)(?:-u|--user|--proxy-user)[\s=]{1,4}[\"']?[^\s:\"']{1,128}:)[^\s\"']{1,512}"
)
MYSQL: Final = re.compile(
    r"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,200}?\s-p)[^\s;&|]{1,512}"
)
SSHPASS: Final = re.compile(
    r"(\bsshpass\s{1,4}-p\s{0,4})(?:\"[^\"\n]{1,512}\"|'[^'\n]{1,512}'|\S{1,512})"
)

# Where a form of its own, or a long word, can be at all: whatever is shorter is no key.
WORD: Final = re.compile(r"[A-Za-z0-9_.=:/+~-]{12,}+")
# One of these stands in each name: most texts hold none.
NAME_HINTS: Final = (
    "pass", "pwd", "pw", "pat", "secret", "token", "key", "credential", "webhook", "session",
    "shared", "sig", "otp", "pin", "salt", "dsn", "auth", "密码", "口令", "密钥", "令牌",
)  # fmt: skip
NAME: Final = re.compile(rf"(?:{_NAMES})", re.IGNORECASE)
# What no maker's table knows: a long unbroken word of small and large letters and digits.
LONG: Final = re.compile(r"(?<![A-Za-z0-9_+/=.-])[A-Za-z0-9_-]{32,}+(?![./\w])={0,2}")
