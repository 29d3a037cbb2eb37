// The small files of Python packages and environments; the first byte says which kind the rest is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "doctor/package_name.h"
#include "doctor/python/python_packages.h"
#include "doctor/python/python_text.h"

namespace mynah::doctor {
namespace {

void look_at_record(std::string_view text) {
  size_t bytes = 0;
  for_each_record(text, [&](const RecordEntry& entry) {
    bytes += entry.path.size() + entry.hash.size();
    MYNAH_CHECK(!entry.path.empty(), "a file without a path");
  });
  MYNAH_CHECK(bytes <= text.size(), "more in a record than its text has");
}

void look_at_values(std::string_view text) {
  for (const auto& [name, value] : read_assignments(text)) {
    MYNAH_CHECK(!name.empty() && value.value_or("").size() <= text.size(), "a value of nothing");
  }
  for (const std::string& argument : first_arguments(text, "CDLL")) {
    MYNAH_CHECK(argument.find('\n') == std::string::npos, "an argument of two lines");
  }
}

void look_at_configuration(std::string_view text) {
  const VenvConfig config = read_venv_config(text);
  MYNAH_CHECK(short_python_version(config.python) == config.python, "a version changes");
  for (const std::string& folder : read_path_file(text)) {
    MYNAH_CHECK(!folder.empty(), "a folder without a name");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'm':
      for (const HeaderField& field : read_headers(text)) {
        MYNAH_CHECK(field.name.find('\n') == std::string::npos, "a name of two lines");
        const std::string name = normal_name(field.value);
        MYNAH_CHECK(normal_name(name) == name, "a normalised name changes");
      }
      break;
    case 'r':
      look_at_record(text);
      break;
    case 'v':
      look_at_values(text);
      break;
    case 'c':
      look_at_configuration(text);
      break;
    case 'e':
      for (const std::string& requirement : read_egg_requirements(text)) {
        MYNAH_CHECK(!requirement.empty(), "a requirement of nothing");
      }
      break;
    case 'f':
      for (const std::string& folder : read_editable_finder(text)) {
        MYNAH_CHECK(folder.size() <= text.size(), "a folder longer than the text");
      }
      break;
    case 'l':
      for (const std::string& folder : read_egg_link(text)) {
        MYNAH_CHECK(!folder.empty(), "a folder without a name");
      }
      break;
    default:
      if (const auto package = parse_conda_package(text, "fuzz")) {
        MYNAH_CHECK(package->installer == "conda", "a package of somebody else");
      }
  }
  return 0;
}

}  // namespace mynah::doctor
