// `mynah transcribe` with a recogniser that hears what it is told.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/fake_recognizer.h"
#include "cli/hear/transcribe.h"
#include "cli/test_context.h"
#include "temporary_folder.h"

namespace mynah::cli {

class Transcribe : public testing::Test {
 protected:
  int run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "transcribe");
    program = std::make_unique<TestProgram>(
        std::vector<Verb>{{"transcribe", "Turns recordings into text.", [this] {
                             return std::make_unique<TranscribeCommand>(fake_engine(fake));
                           }}});
    fake->stop_source = &program->stop;
    program->out.set_terminal(terminal);
    program->err.set_terminal(terminal);
    program->environment["MYNAH_HOME"] = folder / "home";
    program->environment.insert(environment.begin(), environment.end());
    return program->run(arguments);
  }

  [[nodiscard]] const std::string& out() const { return program->out.text(); }

  [[nodiscard]] const std::string& err() const { return program->err.text(); }

  test::TemporaryFolder folder;
  std::shared_ptr<FakeRecognizer> fake = std::make_shared<FakeRecognizer>();
  std::unique_ptr<TestProgram> program;
  std::map<std::string, std::string> environment;
  bool terminal = false;
};

}  // namespace mynah::cli
