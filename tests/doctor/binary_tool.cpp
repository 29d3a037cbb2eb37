// What mynah reads of binaries, as a line of JSON for each: real_binaries.py holds it against
// readelf and cuobjdump.
// Usage: doctor_binary_tool FILE...
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mapped_file.h"
#include "doctor/binaries/device_code.h"
#include "doctor/binaries/loader.h"
#include "formats/elf.h"
#include "formats/fatbin.h"
#include "formats/pe.h"

namespace mynah {
namespace {

using Json = nlohmann::ordered_json;

Json elf_json(const ElfFile& elf) {
  Json json;
  json["type"] = elf.type;
  json["machine"] = elf.machine;
  json["needed"] = elf.dynamic.needed;
  for (const auto& [name, value] :
       {std::pair("rpath", elf.dynamic.rpath), std::pair("runpath", elf.dynamic.runpath)}) {
    json[name] = value ? Json(*value) : Json(nullptr);
  }
  json["soname"] = elf.dynamic.soname;
  json["interpreter"] = elf.interpreter;
  json["version_needs"] = Json::object();
  for (const ElfVersionNeed& need : elf.dynamic.version_needs) {
    for (const ElfVersion& version : need.versions) {
      json["version_needs"][std::string(need.file)].push_back(version.name);
    }
  }
  json["version_definitions"] = Json::array();
  for (const ElfVersion& version : elf.dynamic.version_definitions) {
    json["version_definitions"].push_back(version.name);
  }
  return json;
}

Json symbols_json(const ElfFile& elf) {
  const auto symbols = elf.symbols();
  if (!symbols) {
    return symbols.error().message;
  }
  Json json = {{"count", symbols->size()}, {"undefined", Json::array()}};
  for (const ElfSymbol& symbol : *symbols) {
    if (!symbol.defined && !symbol.name.empty()) {
      json["undefined"].push_back(symbol.name);
    }
  }
  return json;
}

// What the file and its libraries need, and where the loader of this machine finds it.
Json wants_json(const std::string& path) {
  const char* const library_path = std::getenv("LD_LIBRARY_PATH");
  doctor::Loader loader(doctor::linux_view("", library_path == nullptr ? "" : library_path));
  Json json = Json::object();
  const auto answer =
      loader.ask({.file = std::filesystem::absolute(path).string(), .guess = false});
  if (!answer) {
    return answer.error().message;
  }
  for (const doctor::LibraryWant& want : answer->wants) {
    json[want.library] = want.found;
  }
  return json;
}

Json pe_json(const PeFile& pe) {
  return {{"machine", pe.machine},         {"dll", pe.dll},
          {"imports", pe.imports},         {"delay_imports", pe.delay_imports},
          {"export_name", pe.export_name}, {"sections", pe.sections.size()}};
}

Json fatbins_json(const MappedFile& file, const std::vector<Fatbin>& fatbins) {
  Json json = Json::array();
  for (const Fatbin& fatbin : fatbins) {
    Json entries = Json::array();
    for (const FatbinEntry& entry : fatbin.entries) {
      entries.push_back({{"kind", entry.kind},
                         {"arch", entry.architecture},
                         {"variant", std::string(1, entry.variant)},
                         {"ptx", {entry.ptx_major, entry.ptx_minor}},
                         {"compression", entry.compression},
                         {"unpacked", entry.unpacked_bytes},
                         {"offset", entry.payload.data() - file.bytes().data()},
                         {"size", entry.payload.size()}});
    }
    json.push_back({{"offset", fatbin.offset}, {"section", fatbin.section}, {"entries", entries}});
  }
  return json;
}

// Pages of files that this process has touched, in MiB.
double touched_mib() {
  std::ifstream status("/proc/self/status");
  double kib = 0;
  for (std::string word; status >> word;) {
    if (word == "RssFile:") {
      status >> kib;
    }
  }
  return kib / 1024;
}

Json file_json(const std::string& path) {
  Json json = {{"file", path}};
  const auto file = MappedFile::open(path);
  if (!file) {
    json["error"] = file.error().message;
    return json;
  }
  // The kernel maps pages around a touched one as well, unless it is told not to.
  if (!(*file)->bytes().empty()) {
    ::madvise(const_cast<std::byte*>((*file)->bytes().data()), (*file)->bytes().size(),
              MADV_RANDOM);
  }
  const double before = touched_mib();
  const auto start = std::chrono::steady_clock::now();
  const auto fatbins = read_fatbins(*file);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  json["milliseconds"] = time.count();
  json["touched_mib"] = touched_mib() - before;
  if (fatbins) {
    json["fatbins"] = fatbins_json(**file, *fatbins);
    json["declared"] = count_declared_fatbins(*file).value_or(0);
    if (const auto code = doctor::read_device_code(path)) {
      json["units"] = code->units.size();
    }
  } else {
    json["error"] = fatbins.error().message;
  }
  if (ElfFile::is_elf((*file)->bytes())) {
    if (const auto elf = ElfFile::parse(*file)) {
      json["elf"] = elf_json(*elf);
      json["elf"]["symbols"] = symbols_json(*elf);
      json["elf"]["wants"] = wants_json(path);
    } else {
      json["error"] = elf.error().message;
    }
  } else if (PeFile::is_pe((*file)->bytes())) {
    if (const auto pe = PeFile::parse(*file)) {
      json["pe"] = pe_json(*pe);
    } else {
      json["error"] = pe.error().message;
    }
  }
  return json;
}

}  // namespace
}  // namespace mynah

// NOLINTNEXTLINE(bugprone-exception-escape): where memory runs out, a tool of tests may end
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string line =
        mynah::file_json(argv[i]).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::printf("%s\n", line.c_str());
  }
  return 0;
}
