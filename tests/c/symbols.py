"""symbols.py LIBRARY HEADER FORTRAN: a program sees what the header declares, and nothing else; the module for Fortran
binds the same names."""

import re
import subprocess
import sys

library, header, fortran = sys.argv[1:]
shown = {line.split()[-1].partition("@")[0] for line in
         subprocess.run(["nm", "--dynamic", "--defined-only", library], check=True, text=True, capture_output=True).stdout.splitlines()}
shown.discard("AYATORI_0")  # the version itself
text = re.sub(r"/\*.*?\*/", "", open(header).read(), flags=re.DOTALL)
declared = set(re.findall(r"^[a-z0-9_ *]+[ *](ayatori_\w+)\(", text, re.MULTILINE))
bound = set(re.findall(r'name="(ayatori_\w+)"', open(fortran).read()))
not_for_fortran = {"ayatori_option_at"}
assert len(declared) > 15, declared
assert shown == declared, (shown - declared, declared - shown)
assert bound == declared - not_for_fortran, (bound ^ declared) - not_for_fortran
soname = re.search(r"SONAME\s+(\S+)", subprocess.run(["objdump", "-p", library], check=True, text=True, capture_output=True).stdout)
assert re.fullmatch(r"libayatori\.so\.\d+", soname.group(1)), soname.group(1)
