// `mynah doctor` as a user types it, in a home of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/doctor/doctor.h"
#include "cli/test_context.h"
#include "doctor/facts_json.h"
#include "doctor/knowledge/knowledge_files.h"
#include "temporary_folder.h"

namespace mynah::cli {

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class DoctorVerb : public ::testing::Test {
 protected:
  Outcome mynah(const std::vector<std::string>& words, const std::string& input = {}) {
    TestProgram program({verb<DoctorCommand>("doctor", "The doctor.")});
    program.environment = environment;
    std::vector<std::string> arguments = {"doctor"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    Context context = program.context();
    InputStream in(input);
    Context with_input{.out = context.out,
                       .err = context.err,
                       .in = in,
                       .environment = context.environment,
                       .stop = context.stop,
                       .stopping_signal = context.stopping_signal,
                       .verbs = context.verbs,
                       .verb = {},
                       .json = false};
    const int code = run_program(arguments, with_input);
    return {code, program.out.text(), program.err.text()};
  }

  // A machine of joe's.
  std::string facts_file() {
    doctor::Facts facts;
    facts.machine.name = "joes-box";
    facts.machine.release = "Debian GNU/Linux 12 (bookworm)";
    facts.environments = {{.path = "/home/joe/acme/.venv",
                           .kind = "venv",
                           .python = "3.11",
                           .packages = {{.name = "<script>alert(1)</script>", .version = "1"}}}};
    facts.skipped = {"/home/joe/acme/data: no permission"};
    std::string path = folder / "facts.json";
    test::write_file(path, doctor::to_json(facts).dump());
    return path;
  }

  // The program's own knowledge, of another date.
  std::string knowledge_file(const std::string& date) {
    nlohmann::json json = {{"format", doctor::kKnowledgeFormat}, {"date", date}};
    for (const doctor::KnowledgeFile& file : doctor::builtin_files()) {
      nlohmann::json& copy = json["files"][file.name.substr(0, file.name.size() - 5)];
      copy = nlohmann::json::parse(file.text);
      copy["date"] = date;
    }
    std::string path = folder / ("knowledge-" + date + ".json");
    test::write_file(path, json.dump());
    return path;
  }

  test::TemporaryFolder folder;
  std::map<std::string, std::string> environment = {{"HOME", folder.path()}, {"USER", "joe"}};
};

inline constexpr const char* kCudnnError =
    "Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open "
    "shared object file: No such file or directory";

}  // namespace mynah::cli
