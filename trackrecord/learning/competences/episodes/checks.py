"""Checks: the tools that verify earlier work, known by the words of their names."""

from typing import Final

from ...text.words import words_of

# Words of tool names that check what was done before. Chinese ones are the words' bigrams.
CHECKS: Final = frozenset({
    "test", "tests", "pytest", "unittest", "jest", "vitest", "mocha", "rspec", "junit", "tox",
    "nox", "ctest", "phpunit", "nosetests", "nextest", "minitest",
    "lint", "linter", "linting", "eslint", "flake8", "pylint", "ruff", "golint", "golangci",
    "clippy", "shellcheck", "vet", "rubocop", "phpstan", "stylelint", "typecheck", "typechecker",
    "typechecking", "mypy", "pyright", "basedpyright", "tsc", "check", "checks", "checker",
    "verify", "verification", "validate", "validation", "build", "compile", "测试", "检查", "校验",
    "验证", "构建", "编译",
})  # fmt: skip
# `write_tests` makes tests; it does not run them.
MAKES: Final = frozenset({
    "add", "create", "delete", "edit", "fix", "generate", "remove", "update", "write", "编写",
    "创建",
})  # fmt: skip


def is_check(tool: str) -> bool:
    """Return whether a tool checks earlier work: runs tests, a linter, a type check, a build."""
    words = words_of(tool)
    return bool(words & CHECKS) and not words & MAKES
