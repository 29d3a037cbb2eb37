// The program itself on a simulated card: mynah in a process of its own, whose driver is
// libmynah_simulated_cuda.so, and what the environment tells that driver to do (docs/testing.md).
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "cli/recordings.h"
#include "cli/whisper_file.h"
#include "temporary_folder.h"

namespace mynah::cli {

using Variables = std::map<std::string, std::string>;

struct ProgramOutcome {
  ProcessEnd end;
  std::string out;
  std::string err;
};

// A program that runs, and the files that it writes to.
struct RunningProgram {
  Process process;
  std::string out;
  std::string err;

  [[nodiscard]] ProgramOutcome wait() {
    const auto end = process.wait(std::nullopt);
    EXPECT_TRUE(end) << end.error().message;
    return {.end = **end, .out = test::read_file(out), .err = test::read_file(err)};
  }
};

// A home of its own, a small Whisper and a recording for each test.
class CardProgram : public ::testing::Test {
 protected:
  CardProgram() {
    const whisper::Config config = test::tiny_config(false);
    model_ = write_whisper(folder_ / "model.gguf", config, test::tiny_vocabulary(config));
    recording_ = write_wav(folder_ / "tone.wav", 0.8);
  }

  // A run with these variables beside those of every run.
  // `input`: its standard input; -1: none.
  [[nodiscard]] RunningProgram start(const std::vector<std::string>& arguments,
                                     const Variables& more = {}, int input = -1) {
    Variables variables = {{"HOME", folder_.path()},
                           {"MYNAH_HOME", folder_ / "home"},
                           {"MYNAH_CUDA_DRIVER", MYNAH_SIMULATED_CUDA}};
    for (const auto& [name, value] : more) {
      variables[name] = value;
    }
    ++runs_;
    const std::string out_file = folder_ / ("out" + std::to_string(runs_));
    const std::string err_file = folder_ / ("err" + std::to_string(runs_));
    constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
    const UniqueFd out(::open(out_file.c_str(), kFlags, 0600));
    const UniqueFd err(::open(err_file.c_str(), kFlags, 0600));
    ProcessSpec spec{.program = MYNAH_PROGRAM,
                     .arguments = arguments,
                     .descriptors = {{out.get(), 1}, {err.get(), 2}},
                     .environment = {}};
    if (input >= 0) {
      spec.descriptors.emplace_back(input, 0);
    }
    for (const auto& [name, value] : variables) {
      spec.environment.push_back(std::string(name).append("=").append(value));
    }
    auto process = Process::spawn(spec);
    EXPECT_TRUE(process) << process.error().message;
    return {.process = std::move(*process), .out = out_file, .err = err_file};
  }

  [[nodiscard]] std::vector<std::string> transcription(
      const std::string& device, const std::vector<std::string>& flags = {}) const {
    std::vector<std::string> arguments = {"transcribe",
                                          "--device",
                                          device,
                                          "--model",
                                          model_,
                                          "--no-vad",
                                          "--max-new-tokens",
                                          "8",
                                          "--temperature-increment",
                                          "0"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.push_back(recording_);
    return arguments;
  }

  [[nodiscard]] ProgramOutcome transcribe(const std::string& device, const Variables& more = {},
                                          const std::vector<std::string>& flags = {}) {
    return start(transcription(device, flags), more).wait();
  }

  // What stands on standard error behind the lines that say what is proven.
  static std::string_view behind_proofs(const ProgramOutcome& outcome) {
    std::string_view said = outcome.err;
    while (said.starts_with("mynah: proving ")) {
      said.remove_prefix(std::min(said.find('\n') + 1, said.size()));
    }
    return said;
  }

  // Ended by itself with exit code 3, no text and one line that has all of `parts`, behind those
  // that say what is proven.
  static void expect_refusal(const ProgramOutcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.end.signal, 0);
    EXPECT_EQ(outcome.end.exit_code, 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    const std::string_view said = behind_proofs(outcome);
    EXPECT_EQ(std::ranges::count(said, '\n'), 1) << outcome.err;
    EXPECT_THAT(said, ::testing::StartsWith("mynah: transcribe: "));
    for (const std::string& part : parts) {
      EXPECT_THAT(said, ::testing::HasSubstr(part));
    }
  }

  // Ended well with a text.
  static void expect_text(const ProgramOutcome& outcome) {
    EXPECT_TRUE(outcome.end.ok()) << outcome.end.exit_code << ": " << outcome.err;
    EXPECT_NE(outcome.out, "") << outcome.err;
  }

  // Its answers in JSON, a line each; what is none is passed over.
  static std::vector<nlohmann::json> answers_of(const ProgramOutcome& outcome) {
    std::vector<nlohmann::json> answers;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
      if (answer.contains("placement")) {
        answers.push_back(std::move(answer));
      }
    }
    return answers;
  }

  // What the last of the answers says of placement.
  static nlohmann::json placement_of(const ProgramOutcome& outcome) {
    const std::vector<nlohmann::json> answers = answers_of(outcome);
    nlohmann::json last = answers.empty() ? nlohmann::json() : answers.back().at("placement");
    EXPECT_TRUE(last.is_object()) << outcome.out << outcome.err;
    return last;
  }

  test::TemporaryFolder folder_;
  std::string model_;
  std::string recording_;

 private:
  int runs_ = 0;
};

}  // namespace mynah::cli
