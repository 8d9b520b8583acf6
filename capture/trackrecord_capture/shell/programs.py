"""Programs that verify: what each of them is for, by its name or by the words of it."""

from enum import StrEnum
from functools import lru_cache
from typing import Final

from trackrecord.learning.competences.episodes.checks import MAKES
from trackrecord.learning.text.words import words_of


class Purpose(StrEnum):
    """The purpose of a command."""

    TEST = "test"
    TYPE_CHECK = "type check"
    LINT = "lint"
    BUILD = "build"
    CHECK = "check"
    """Several of these at once, or one of them that its name does not tell: `make check`."""
    FORMAT = "format"
    INSTALL = "install"
    RUN = "run"
    SEARCH = "search"
    READ = "read"
    OTHER = "other"


CHECKING: Final = frozenset(
    {Purpose.TEST, Purpose.TYPE_CHECK, Purpose.LINT, Purpose.BUILD, Purpose.CHECK}
)
"""The purposes of commands that verify earlier work."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of programs, subcommands, tasks and scripts. The first purpose with a word counts.
_BY_WORD: Final = {
    Purpose.TEST: _words("""
        ava bats behave busted codecept cov coverage ctest cucumber cypress distcheck doctest
        e2e eunit ginkgo gotestsum green gtest hurl integration jasmine jest junit kaocha karma
        kunit midje minitest mocha newman nextest nose2 nosetests nox paratest pest pester
        phpunit playwright proptest prove pytest qunit robot rspec runtest runtests shellspec
        smoke spec specs stestr surefire tap tape tarpaulin test testcafe testonly tests
        testtools tox trial unit unittest unittests vitest vstest ward wdio xctest xdoctest
        xunit 测试
    """),
    Purpose.TYPE_CHECK: _words("""
        basedpyright dialyzer dmypy flow mypy phpstan psalm pyre pyrefly pyright pytype sorbet
        srb tsc tsgo typecheck typechecker typechecking types typing
    """),
    Purpose.LINT: _words("""
        actionlint analyse analyze bandit biome buf checkstyle clippy clj-kondo codespell
        commitlint cppcheck cpplint credo depcheck detekt djlint eslint flake8 golangci golint
        gosec govulncheck hadolint hlint knip ktlint lint linter linting lints luacheck
        markdownlint oxlint phpcs pint pycodestyle pydocstyle pyflakes pylint reek revive
        rubocop ruff semgrep shellcheck spotless standardrb staticcheck stylelint swiftlint
        tflint vale vet vulture yamllint zizmor
    """),
    Purpose.BUILD: _words("assemble build builds bundle compile compileall 构建 编译"),
    Purpose.CHECK: _words("""
        all check checker checks ci precommit presubmit qa quality validate validation
        verification verify 校验 检查 验证
    """),
}
# Programs of which no word says it, and those that their words would say wrongly.
_BY_PROGRAM: Final[dict[str, Purpose]] = {
    **dict.fromkeys(_words("c8 k6 nyc richgo testthat wtr"), Purpose.TEST),
    **dict.fromkeys(_words("import-type svelte-check ty"), Purpose.TYPE_CHECK),
    **dict.fromkeys(
        _words("""
            checkov clang-tidy html5lib php-cs-fixer pre-commit prek slither sqlfluff standard
            trivy trunk xo
        """),
        Purpose.LINT,
    ),
    **dict.fromkeys(
        _words("""
            cc clang clang++ esbuild g++ gcc hugo javac latexmk microbundle msbuild ng-packagr
            parcel pdflatex rollup rustc swc swiftc tsup unbuild webpack xcodebuild
        """),
        Purpose.BUILD,
    ),
}


def purpose_by_words(words: frozenset[str]) -> Purpose | None:
    """Return what something with these words in its name checks; None if it checks nothing."""
    return next((purpose for purpose, known in _BY_WORD.items() if known & words), None)


@lru_cache(maxsize=1024)
def purpose_of_program(program: str) -> Purpose | None:
    """Return what a program always checks, whatever its arguments; None for other programs."""
    if program in _BY_PROGRAM:
        return _BY_PROGRAM[program]
    words = words_of(program)
    return None if words & MAKES else purpose_by_words(words)
