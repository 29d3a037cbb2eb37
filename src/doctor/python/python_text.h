// The small files by which Python packages and environments describe themselves, read as text. No
// function here fails: what makes no sense is passed by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"

namespace mynah::doctor {

// A field of METADATA, PKG-INFO or WHEEL.
struct HeaderField {
  std::string name;   // in small letters
  std::string value;  // without blanks around it; lines that go on are joined by '\n'
};

// The fields up to the first empty line, as e-mail has them (RFC 822; "Core metadata
// specifications" of the Python packaging guide). At most 65,536 of them.
[[nodiscard]] std::vector<HeaderField> read_headers(std::string_view text);

// A line of RECORD. The views live as long as the call that shows them.
struct RecordEntry {
  std::string_view path;          // from the folder that the package is in, with '/' between
  std::string_view hash;          // "sha256=" and base64url without '='; empty: none
  std::optional<uint64_t> bytes;  // none: not said
};

// Shows each line of RECORD, which is CSV with '"' around fields that need it ("Recording installed
// projects" of the packaging guide).
void for_each_record(std::string_view text, FunctionRef<void(const RecordEntry&)> show);

// Values that a Python file sets at its outermost level to a text, a name or a number, annotated or
// not: version.py's `cuda: Optional[str] = '12.6'`. None is a value without text. The last one
// counts, and code is not run: what is set inside of an `if` is not seen.
[[nodiscard]] std::map<std::string, std::optional<std::string>, std::less<>> read_assignments(
    std::string_view text);

// Texts in quotes, of one line each, that stand directly behind `call` and '(': the names of
// libraries of `CDLL("libcudnn.so.8", ...)`. At most 256.
[[nodiscard]] std::vector<std::string> first_arguments(std::string_view text,
                                                       std::string_view call);

// pyvenv.cfg (PEP 405; uv and virtualenv write more).
struct VenvConfig {
  std::string home;                   // the folder of the interpreter that it was made with
  std::string python;                 // "3.11"; empty: not said
  bool with_system_packages = false;  // include-system-site-packages
  bool operator==(const VenvConfig&) const = default;
};

[[nodiscard]] VenvConfig read_venv_config(std::string_view text);

// requires.txt of an egg-info folder, as PEP 508 writes requirements: "[gpu:sys_platform ==
// 'linux']" above them becomes a marker.
[[nodiscard]] std::vector<std::string> read_egg_requirements(std::string_view text);

// Folders that a .pth file adds to the path: lines that are neither comments nor code.
[[nodiscard]] std::vector<std::string> read_path_file(std::string_view text);

// The folder that an .egg-link leads to.
[[nodiscard]] std::vector<std::string> read_egg_link(std::string_view text);

// Folders that hold the packages of an editable installation, of the module by which setuptools
// finds them ("__editable___NAME_finder.py").
[[nodiscard]] std::vector<std::string> read_editable_finder(std::string_view text);

// "3.11" of "3.11.7", "3.11.7.final.0"; empty where it does not begin with two numbers.
[[nodiscard]] std::string short_python_version(std::string_view version);

}  // namespace mynah::doctor
