"""Runs the tests. The programs to test are in the environment variables FTK and FTK_QUERY.

The tests of the cluster take a minute: they run alone with the argument `cluster`, and otherwise not.
The last line is `N passed, N failed`. A run without tests fails, and so does a skipped test.
"""

import pathlib
import shutil
import sys
import unittest

import engines


class Result(unittest.TextTestResult):
    """Counts the tests that pass. `testsRun` lacks those of a class whose preparation fails."""

    n_passed = 0

    def addSuccess(self, test):  # noqa: N802 (the name is that of unittest)
        """Is not called for a test with a failed part."""
        super().addSuccess(test)
        self.n_passed += 1


def main():
    """Returns the exit status."""
    for variable, program in (("FTK", engines.FTK), ("FTK_QUERY", engines.FTK_QUERY)):
        if shutil.which(program) is None:
            sys.exit(f"{variable}: there is no program {program}")
    patterns = ["test_cluster.py"] if sys.argv[1:] == ["cluster"] else ["test_documents.py", "test_engines.py"]
    folder = str(pathlib.Path(__file__).parent)
    tests = unittest.TestSuite(unittest.TestLoader().discover(folder, pattern) for pattern in patterns)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Result).run(tests)
    bad = {str(test).split(" (")[0] for test, _ in [*result.failures, *result.errors, *result.skipped]}
    bad |= {str(test) for test in result.unexpectedSuccesses}
    n_failed = len(bad)
    print(f"{result.n_passed} passed, {n_failed} failed")
    return 0 if n_failed == 0 and result.n_passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
