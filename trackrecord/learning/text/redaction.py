"""Replace secrets in texts and in arguments, by a table of what each kind looks like.

detect-secrets was weighed and left: it finds which lines hold secrets, at about a millisecond a
line, and replaces none. Every expression begins at a literal or a guarded place and its repetitions
are bounded or possessive, so that the time is linear in the text.
"""

import re
import string
from functools import lru_cache
from typing import Any, Final

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
    r"(?:bot)?[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}+",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
    r"mfa\.[A-Za-z0-9_-]{60,}+",
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
    r"(?:sdk|mob|api|pat-(?:na|eu|ap)\d)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{6,}+",
    r"[0-9a-f]{32}-us\d{1,2}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{20,}+",
    r"dt0[a-z]\d{2}\.[A-Z0-9]{16,}+\.[A-Z0-9a-z]{20,}+",
    r"xkeysib-[0-9a-f]{20,}+",
    r"(?:LTAI|AKID)[A-Za-z0-9]{12,}+",
    r"sgp_[\w-]{20,}+",
    r"pul-[0-9a-f]{20,}+",
    r"pnu_[A-Za-z0-9]{20,}+",
    r"rdme_[a-z0-9]{20,}+",
    r"bku[at]_[A-Za-z0-9]{20,}+",
    r"CC[IR]PAT_[\w-]{20,}+",
    r"CLOJARS_[a-z0-9]{20,}+",
    r"EZ[AT]K[A-Za-z0-9]{20,}+",
    r"tfp_[\w-]{20,}+",
    r"aio_[A-Za-z0-9]{20,}+",
    r"sess-[A-Za-z0-9]{20,}+",
    r"1/\d{12,20}:[0-9a-f]{20,}+",
    r"xprv[A-Za-z0-9]{40,}+",
    r"0x[0-9a-fA-F]{64}(?![0-9a-fA-F])",
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

NAMES: Final = (
    r"pass(?:word|wd|phrase|code)|(?<![A-Za-z])(?:pass|pwd|pw|pat)(?![A-Za-z])|[_-]pwd|pgpassword"
    r"|secrets?|token(?!s|iz|is)|api[ _-]?key|apikey|access[_-]?key|account[_-]?key"
    r"|shared[_-]?access[_-]?\w{0,20}"
    r"|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?key|master[_-]?key|service[_-]?key"
    r"|subscription[_-]?key|credentials?|client[_-]?secret|webhook[_-]?(?:url|secret)|session[_-]?id"
    r"|x-api-key|x-(?:amz|goog)-signature|(?<![A-Za-z])(?:sig|otp|pin|salt|dsn|auth|密码|口令|密钥|令牌)(?![A-Za-z])"
)
# A name in front of its value, as in a shell, in JSON, in YAML, in a connection string: what stands
# between them is sought first, because that is quick, and then what stands before and behind it.
# Each alternative begins with a letter of its own, which is what makes the search quick.
SEPARATOR: Final = re.compile(r"!={1,2}|=={1,2}|:=?|=>?|：|i(?<=\si)s\s|是|为")
NAME_BEFORE: Final = re.compile(
    rf"(?:{NAMES})[\w.-]{{0,40}}[\\\"'\]]{{0,3}}\s{{0,8}}\Z", re.IGNORECASE
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
# "The password is wrong" tells none.
NO_VALUE: Final = frozenset(
    {
        "a", "an", "and", "any", "correct", "empty", "expected", "expired", "in", "incorrect",
        "invalid", "missing", "needed", "no", "not", "null", "ok", "only", "optional", "required",
        "right", "set", "stored", "that", "the", "too", "unknown", "used", "valid", "wrong",
    }
)  # fmt: skip
# --password value, --token=value: any value, whatever it looks like.
FLAG: Final = re.compile(
    rf"(-(?<!\S-)-?[\w-]{{0,40}}(?:{NAMES})[\w-]{{0,20}}(?:\s{{1,4}}|=))"
    r"(?![-\s])(?:\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s;&|]{1,4096})",
    re.IGNORECASE,
)
# A value of one word, or a quoted one.
_VALUE: Final = r"(?:\"[^\"\n]{1,512}\"|'[^'\n]{1,512}'|[^\s;&|\"']{1,512})"
_IN_LINE: Final = r"[^\n|;&]{0,200}?"
_STDIN: Final = (
    r"(?:sudo\s(?:-\S{1,20}\s{1,4}){0,3}(?:-[A-Za-z]{0,6}S|--stdin)\b|--password-stdin|--with-token"
    r"|chpasswd|passwd\s{1,4}--stdin|secret\s{1,4}(?:put|set))"
)


def _rule(hints: tuple[str, ...], expression: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    return hints, re.compile(expression, re.IGNORECASE)


# How programs take a secret, by what is in each such text: the first group stays, what follows it
# within the match is the secret. These take it as an option.
OPTIONS: Final = (
    # curl -u user:password, curl -b name=value
    _rule(
        ("-u", "--proxy-user"),
        r"((?<!\S)(?:-u|--user|--proxy-user)[\s=]{1,4}[\"']?[^\s:\"']{1,128}:)[^\s\"']{1,512}",
    ),
    _rule(
        ("-b", "--cookie"),
        r"((?<!\S)(?:-b|--cookie)[\s=]{1,4}[\"']?[^\s=\"']{1,128}=)[^\s\"']{1,4096}",
    ),
    # mysql -psecret, 7z -psecret
    _rule(("mysql", "mariadb"),
          rf"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b{_IN_LINE}\s-p)[^\s;&|]{{1,512}}"),
    _rule(("7z",), rf"(\b7z[ar]?\b{_IN_LINE}\s-p){_VALUE}"),
    _rule(("sshpass",), rf"(\bsshpass\s{{1,4}}-p\s{{0,4}}){_VALUE}"),
    # docker login -p secret
    _rule(("login",), rf"(\b(?:docker|podman|nerdctl|helm|oras|crane|az|oc)\b{_IN_LINE}\blogin\b"
                      rf"{_IN_LINE}\s-p[\s=]{{1,4}}){_VALUE}"),
    _rule(("mongo", "twine"), rf"(\b(?:mongo\w{{0,10}}|twine)\b{_IN_LINE}\s-p\s{{1,4}}){_VALUE}"),
    _rule(("redis-cli", "valkey-cli"),
          rf"(\b(?:redis|valkey)-cli\b{_IN_LINE}\s-a\s{{1,4}}){_VALUE}"),
    _rule(("ldap",), rf"(\bldap\w{{3,10}}\b{_IN_LINE}\s-w\s{{1,4}}){_VALUE}"),
    _rule(("sqlcmd", "bcp"), rf"(\b(?:sqlcmd|bcp)\b{_IN_LINE}\s(?-i:-P)\s{{0,4}}){_VALUE}"),
    _rule(("zip",), rf"(\b(?:zip|unzip|zipcloak)\b{_IN_LINE}\s(?-i:-P)\s{{0,4}}){_VALUE}"),
    _rule(("smb", "rpcclient"),
          rf"(\b(?:smb\w{{3,10}}|rpcclient)\b{_IN_LINE}\s(?-i:-U)\s{{0,4}}[^\s%]{{1,128}}%)"
          r"[^\s;&|]{1,512}"),
    _rule(("htpasswd",),
          r"(\bhtpasswd\s{1,4}-\w{0,6}b\w{0,6}\s{1,4}\S{1,256}\s{1,4}\S{1,128}\s{1,4})"
          rf"{_VALUE}"),
    _rule(("openssl",), rf"(\bopenssl\b{_IN_LINE}\s(?-i:-k|-K)\s{{1,4}}){_VALUE}"),
    _rule(("keypass", "storepass"), rf"(-(?:key|store)pass\s{{1,4}}){_VALUE}"),
    _rule(("ssh-keygen",), rf"(\bssh-keygen\b{_IN_LINE}\s(?-i:-[NP])\s{{1,4}}){_VALUE}"),
    _rule(("--from-literal",), rf"(--from-literal[\s=]{{1,4}}[\"']?[^\s=]{{1,128}}=){_VALUE}"),
)  # fmt: skip
# These do without one, or are no command.
PHRASES: Final = (
    _rule(("login",), rf"(\bcargo\s{{1,4}}login\s{{1,4}})(?!-){_VALUE}"),
    _rule(("wpa_passphrase",), rf"(\bwpa_passphrase\s{{1,4}}\S{{1,64}}\s{{1,4}}){_VALUE}"),
    _rule(("net use",), rf"(\bnet use\b{_IN_LINE}/user:\S{{1,128}}\s{{1,4}}){_VALUE}"),
    _rule(("secret",),
          r"(\bsecrets?\s{1,4}set\s{1,4}"
          r"(?:[^\s=]{1,128}=|\S{1,128}\s{1,4}(?:-b|--body)[\s=]{1,4}))"
          rf"{_VALUE}"),
    # echo secret | sudo -S, sudo -S <<< secret
    _rule(("sudo", "-stdin", "--with-token", "passwd", "secret"),
          rf"(\b(?:echo|printf)\s{{1,4}}(?:-\w{{1,3}}\s{{1,4}})?(?:[\w.-]{{1,64}}:)?){_VALUE}"
          rf"(?=[^\n|]{{0,40}}\|[^\n]{{0,200}}?{_STDIN})"),
    _rule(("<<<",), rf"({_STDIN}[^\n]{{0,200}}?<<<\s{{0,4}}){_VALUE}"),
    # A bare header of HTTP, a line of ~/.pgpass
    _rule(("basic ",), r"(\bbasic\s{1,4})(?=[A-Za-z]{0,64}[0-9+/=])[A-Za-z0-9+/]{16,}+={0,2}"),
    _rule((":5432:", ":5433:", ":6432:", ":*:"),
          r"((?<!\S)[^\s:/]{1,256}:(?:\d{4,5}|\*):(?:[a-z_][\w-]{0,62}|\*):[a-z_][\w-]{0,62}:)"
          r"\S{3,512}(?=\s{0,9}(?:\n|$))"),
    # NetworkCredential("user", "secret"), auth=("user", "secret")
    _rule(("credential", "auth"),
          r"((?:NetworkCredential|BasicAuth|auth\s?=\s?)\(\s?[\"'][^\"'\n]{0,128}[\"']\s?,\s?)"
          r"(?:\"[^\"\n]{1,512}\"|'[^'\n]{1,512}')"),
    _rule(("securestring",), rf"(\bConvertTo-SecureString\s{{1,4}}(?:-String\s{{1,4}})?){_VALUE}"),
    _rule(("assword:",),
          r"(assword:[\"']?[^\n]{0,40}?\bsend(?:line)?\s{0,4}\(?(?:--\s{1,4})?)"
          rf"{_VALUE}"),
    _rule(("mnemonic", "phrase"),
          r"((?:mnemonic|(?:seed|recovery|backup)[ _-]phrase)\W{0,4}(?:is|words)?\W{1,4})"
          r"[a-z]{3,10}(?:[ ,]{1,2}[a-z]{3,12}){8,24}"),
    # ENV DB_PASSWORD value, and other ways in which a blank stands between them
    _rule(
        ("env ", "arg ", "setenv", "setx", "set ", "config", "login ", "connect "),
        r"(\b(?:env|arg|setenv|setx|set(?:\s{1,4}-\w{1,4})?|configure\s{1,4}set|config\s{1,4}set"
        rf"|login\s{{1,4}}\S{{1,128}}|connect\s{{1,4}}\S{{1,64}})\s{{1,4}}[^\s=]{{0,128}}?(?:{NAMES})"
        rf"[\w.-]{{0,40}}\s{{1,4}})(?![=&|;-]){_VALUE}",
    ),
    # Words for a password in other languages
    _rule(
        ("passwort", "kennwort", "schlüssel", "mot de passe", "contraseñ", "senha", "wachtwoord",
         "hasło", "lösenord", "парол", "パスワード", "비밀번호", "parola d"),
        r"((?:passwort|kennwort|(?:api|zugangs|geheim)[ -]?schlüssel|mots? de passe|contraseñas?"
        r"|senhas?|wachtwoord(?:en)?|hasło|lösenord(?:et)?|парол[а-я]{1,2}|パスワード|비밀번호"
        r"|parola d.ordine)"
        rf"[\"']?\s{{0,4}}(?:[:=：]|is|ist|lautet|est|es|é|är|は|는|은)\s{{0,4}})(?!\s){_VALUE}",
    ),
)  # fmt: skip

# A value in quotes behind a name: in SQL and XML, and as the second argument of a call.
QUOTED: Final = re.compile(r"(?<=[\s,=])(?:\"[^\"\n]{1,512}\"|'[^'\n]{1,512}')")
QUOTED_BEFORE: Final = re.compile(
    rf"(?:{NAMES}|identified\s{{1,4}}(?:with\s{{1,4}}\S{{1,64}}\s{{1,4}})?by)[\w.-]{{0,40}}"
    r"(?:\s{1,4}|[\"']\s{1,4}value\s?=\s?|[\"']\s{0,4},\s{0,4})\Z",
    re.IGNORECASE,
)
ELEMENT: Final = re.compile(
    rf"(<(?!secret>)[\w:.-]{{0,64}}?(?:{NAMES})[\w:.-]{{0,40}}(?:\s[^<>\n]{{0,256}})?>)[^<>\n]{{1,4096}}(?=<)",
    re.IGNORECASE,
)

# Where a form of its own, or a long word, can be at all: whatever is shorter is no key.
WORD: Final = re.compile(r"[A-Za-z0-9_.=:/+~-]{12,}+")
# One of these stands in each name: most texts hold none.
NAME_HINTS: Final = (
    "pass", "pwd", "pw", "pat", "secret", "token", "key", "credential", "webhook", "session",
    "shared", "sig", "otp", "pin", "salt", "dsn", "auth", "identified",
    "密码", "口令", "密钥", "令牌",
)  # fmt: skip
NAME: Final = re.compile(rf"(?:{NAMES})", re.IGNORECASE)
# What no maker's table knows: a long unbroken word of small and large letters and digits.
LONG: Final = re.compile(r"(?<![A-Za-z0-9_+/=.-])[A-Za-z0-9_-]{32,}+(?![./\w])={0,2}")


# Beyond what is kept, so much is read that a secret is seen whole where the cut goes through it.
_MARGIN: Final = 4096
_SHORT: Final = 80
_LONGEST_KEPT: Final = 8192
_BEHIND_NAME: Final = " \t\r\n\\\"']"
_FEWEST_DIGITS: Final = 3
_LONGEST_NAME: Final = 128
_DEEPEST: Final = 8
# The kind of each character that a long word may have: digit, upper case, lower case, or none.
_KINDS: Final = str.maketrans(
    string.digits + string.ascii_uppercase + string.ascii_lowercase,
    "d" * 10 + "u" * 26 + "l" * 26,
    "_-",
)
_CHANGES: Final = ("du", "ud", "dl", "ld", "ul", "lu")


_BEHIND: Final = rf"\1{PLACEHOLDER}"


def redacted(text: str) -> str:
    """Return a text with the secrets in it replaced by `<secret>`, in linear time."""
    known = _remembered if len(text) <= _SHORT else _just_redacted
    return known(text) if len(text) <= _LONGEST_KEPT else _redacted(text)


def _redacted(text: str) -> str:
    if text.isascii() and text.replace("_", "").isalnum():
        return WORD.sub(_word, text)  # nothing but a form of its own can be in one word
    if "-----" in text or "PuTTY" in text:
        text = PRIVATE_KEY_END.sub(PLACEHOLDER, text)
        text = PRIVATE_KEY.sub(PLACEHOLDER, text)
    if "://" in text:
        text = URL_PASSWORD.sub(_BEHIND, text)
        text = URL_TOKEN.sub(_BEHIND, text)
    lower = text.lower()
    has_name = _may_be_name(lower)
    text = _after_words(text, lower, has_name=has_name)
    if has_name:
        if "-" in text:
            text = FLAG.sub(_BEHIND, text)
        if "<" in text:
            text = ELEMENT.sub(_BEHIND, text)
        text = _without_quoted(text)
        text = _without_named(text)
    return WORD.sub(_word, text)


# Names of tools, of arguments and of files come again and again.
_remembered = lru_cache(maxsize=4096)(_redacted)
# A line gives a call its name and its arguments, an error is that of a call and of a run.
_just_redacted = lru_cache(maxsize=256)(_redacted)


def _after_words(text: str, lower: str, *, has_name: bool) -> str:
    if "authorization" in lower:
        text = HEADER.sub(_BEHIND, text)
    if "bearer" in lower:
        text = BEARER.sub(_BEHIND, text)
    if "cookie" in lower:
        text = COOKIE.sub(_BEHIND, text)
    hinted = [each for hint, each in _BY_HINT[" -" in text, has_name] if hint in lower]
    for pattern in dict.fromkeys(hinted):
        text = pattern.sub(_BEHIND, text)
    return text


def redacted_beginning(text: str, most: int) -> str:
    """Return the beginning of a text, of at most so many characters, without secrets."""
    return redacted(text[: most + _MARGIN])[:most]


def redacted_value(value: Any, most: int | None, depth: int = _DEEPEST) -> Any:  # noqa: ANN401 - any JSON
    """Return decoded JSON without secrets.

    A member whose name says that it holds a secret loses its value, whatever that is; what is
    nested too deeply is left out.

    Args:
        value: the JSON.
        most: how many characters of each text are kept; None for as many as it has, so that a
            text stays within its bounds.
        depth: how many levels are kept.
    """
    if isinstance(value, str):
        return _cut(value, most)
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {
            _cut(str(name), most and _LONGEST_NAME): _hidden(inner)
            if is_secret_name(str(name)) and is_plain(inner)
            else redacted_value(inner, most, depth - 1)
            for name, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted_value(inner, most, depth - 1) for inner in value]
    return value


def _cut(text: str, most: int | None) -> str:
    if most is None:
        return redacted(text)[: max(len(text), _LONGEST_NAME)]
    return redacted_beginning(text, most)


def is_plain(value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value is a text, a number or a list of these."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return isinstance(value, (str, int, float))


def _hidden(value: Any) -> Any:  # noqa: ANN401 - any JSON
    return [PLACEHOLDER] * len(value) if isinstance(value, (list, tuple)) else PLACEHOLDER


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Return whether a member of this name holds a secret."""
    return bool(NAME.search(name[:_LONGEST_NAME]))


def _without_named(text: str) -> str:
    """Replace the values after a name of a secret."""
    kept, done, at = [], 0, 0
    while separator := SEPARATOR.search(text, at):
        at = separator.end()
        if not _is_named(text[max(done, separator.start() - LONGEST_BEFORE) : separator.start()]):
            continue
        value = VALUE_BEHIND.match(text, at)
        if value is None or (value[4] is not None and _tells_none(value[4], separator.group())):
            continue
        blank, double, single, _ = value.groups()
        kept += [text[done:at], blank, double or single or "", PLACEHOLDER]
        done = at = value.end()
    return "".join([*kept, text[done:]])


def _is_named(before: str) -> bool:
    words = before.rstrip(_BEHIND_NAME)
    last = max(words.rfind(" "), words.rfind("\n")) + 1
    if not _may_be_name(words[last:]):
        return False
    # A name may have two words.
    return NAME_BEFORE.search(before, max(words.rfind(" ", 0, last - 1), 0)) is not None


def _without_quoted(text: str) -> str:
    kept, done, at = [], 0, 0
    while found := QUOTED.search(text, at):
        before = text[max(found.start() - LONGEST_BEFORE, 0) : found.start()]
        if _may_be_name(before) and QUOTED_BEFORE.search(before):
            quote = text[found.start()]
            kept += [text[done : found.start()], f"{quote}{PLACEHOLDER}{quote}"]
            done = at = found.end()
        else:
            # A quote that was left open before pairs with the one that begins a value.
            at = found.start() + 1
    return "".join([*kept, text[done:]])


def _may_be_name(text: str) -> bool:
    lower = text.lower()
    return bool([hint for hint in NAME_HINTS if hint in lower])


# Flat lists, without and with what may be an option or a name: most texts hold no hint, which is
# found out for each of them.
_BY_HINT: Final = {
    (has_option, has_name): [
        (hint, pattern)
        for hints, pattern in ((*OPTIONS, *PHRASES) if has_option else PHRASES)
        for hint in hints
        if has_name or not (_may_be_name(hint) or NAMES in pattern.pattern)
    ]
    for has_option in (False, True)
    for has_name in (False, True)
}


def _tells_none(value: str, separator: str) -> bool:
    """Return whether a value only refers to a secret, as `$TOKEN` does, or says it "is wrong"."""
    if separator.strip() == "is" and value.lower().rstrip(".!?") in NO_VALUE:
        return True
    return value.startswith(("${", "$(")) or (value[:1] == "$" and value[1:].isupper())


def _word(found: Any) -> str:  # noqa: ANN401 - as above
    word: str = found.group()
    return _remembered_word(word) if len(word) <= _SHORT else _safe_word(word)


def _safe_word(word: str) -> str:
    return LONG.sub(_random, TOKEN.sub(PLACEHOLDER, word))


_remembered_word = lru_cache(maxsize=4096)(_safe_word)


def _random(found: Any) -> str:  # noqa: ANN401 - as above
    word: str = found.group()
    return PLACEHOLDER if _is_random(word) else word


def _is_random(word: str) -> bool:
    """Return whether a long word mixes digits, small and large letters unlike a name."""
    kinds = word.translate(_KINDS)
    if kinds.count("d") < _FEWEST_DIGITS or "u" not in kinds or "l" not in kinds:
        return False
    return 3 * sum(map(kinds.count, _CHANGES)) > len(kinds)
