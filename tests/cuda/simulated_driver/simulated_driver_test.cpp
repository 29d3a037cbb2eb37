// libmynah_simulated_cuda.so as a program opens it: every test is a process of its own, since the
// library reads the environment once.
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cuda/cuda_backend.h"
#include "base/process.h"
#include "formats/open.h"
#include "gpu/devices.h"
#include "models/kokoro/checkpoint.h"
#include "models/kokoro/model.h"
#include "ops/ops.h"
#include "oracle_arrays.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

using gpu::Driver;

using Variables = std::map<std::string, std::string>;
// What a child answers, given the driver that it opened.
using Answer = std::function<std::string(const std::shared_ptr<const Driver>&)>;

// A child, and the pipe that it answers by.
struct Child {
  pid_t pid = -1;
  UniqueFd answer;

  // All that it wrote.
  [[nodiscard]] std::string text() const {
    std::string text;
    std::array<char, 512> some{};
    for (ssize_t count = 0; (count = ::read(answer.get(), some.data(), some.size())) > 0;) {
      text.append(some.data(), static_cast<size_t>(count));
    }
    return text;
  }

  // How it ended, as waitpid says.
  [[nodiscard]] int wait() const {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
  }
};

// What the child writes to stderr is in its answer too.
Child start(const Variables& variables, const Answer& answer) {
  auto pipe = Pipe::create();
  EXPECT_TRUE(pipe);
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const auto& [name, value] : variables) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::dup2(pipe->write_end.get(), STDERR_FILENO);
    const auto driver = Driver::open({.file = MYNAH_SIMULATED_CUDA, .places = {}});
    const std::string text = driver ? answer(*driver) : driver.error().error.message;
    const ssize_t written = ::write(pipe->write_end.get(), text.data(), text.size());
    ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  return {.pid = pid, .answer = std::move(pipe->read_end)};
}

std::string answer_of(const Variables& variables, const Answer& answer) {
  const Child child = start(variables, answer);
  const std::string text = child.text();
  EXPECT_EQ(child.wait(), 0) << text;
  return text;
}

std::string init_result(const std::shared_ptr<const Driver>& driver) {
  return fmt::format("cuInit {}", static_cast<int>(driver->api().cuInit(0)));
}

// "NAME cc MEMORY FREE" of each card, the last two in MiB.
std::string cards(const std::shared_ptr<const Driver>& driver) {
  const auto devices = gpu::list_devices(*driver);
  if (!devices) {
    return devices.error().message;
  }
  std::string text = fmt::format("driver {}\n", driver->version());
  for (const gpu::GpuDevice& device : *devices) {
    gpu::CUcontext context = nullptr;
    size_t free = 0;
    size_t total = 0;
    driver->api().cuDevicePrimaryCtxRetain(&context, device.handle);
    driver->api().cuCtxSetCurrent(context);
    driver->api().cuMemGetInfo(&free, &total);
    text += fmt::format("{}, {}.{}, {} of {}, {}\n", device.name, device.compute_major,
                        device.compute_minor, free >> 20, device.memory_bytes >> 20, device.uuid);
  }
  return text;
}

TEST(SimulatedDriver, IsOneCardWhereNothingIsSaid) {
  EXPECT_EQ(answer_of({}, cards),
            "driver 13000\nFake RTX, 8.9, 8192 of 8192, "
            "GPU-10101010-1010-1010-1010-101010101010\n");
}

TEST(SimulatedDriver, IsWhatTheEnvironmentSays) {
  EXPECT_EQ(answer_of({{"MYNAH_FAKE_CARDS", "name=A,cc=8.0,memory=100,free=40,uuid=0xa1;name=B"},
                       {"MYNAH_FAKE_VERSION", "12040"}},
                      cards),
            "driver 12040\n"
            "A, 8.0, 40 of 100, GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1\n"
            "B, 8.9, 8192 of 8192, GPU-11111111-1111-1111-1111-111111111111\n");
  EXPECT_EQ(answer_of({{"MYNAH_FAKE_CARDS", "none"}}, init_result), "cuInit 100");
}

TEST(SimulatedDriver, SaysWhatItCannotRead) {
  EXPECT_EQ(answer_of({{"MYNAH_FAKE_CARDS", "cc=8"}}, init_result),
            "simulated driver: MYNAH_FAKE_CARDS: \"cc=8\": wanted a compute capability such as "
            "cc=8.9\ncuInit 1");
  EXPECT_THAT(answer_of({{"MYNAH_FAKE_MEMORY_FILE", "/proc/version/memory"}}, init_result),
              ::testing::AllOf(::testing::StartsWith("simulated driver: MYNAH_FAKE_MEMORY_FILE: "),
                               ::testing::EndsWith("\ncuInit 1")));
}

TEST(SimulatedDriver, FailsAtTheCallsThatAreNamed) {
  const Variables failures = {{"MYNAH_FAKE_FAILURES", "cuInit:3@3,cuInit:999@2,cuInit:46@5"}};
  EXPECT_EQ(answer_of(failures,
                      [](const auto& driver) {
                        std::string text;
                        for (int i = 0; i < 6; ++i) {
                          text += init_result(driver) + "\n";
                        }
                        return text;
                      }),
            "cuInit 0\ncuInit 999\ncuInit 3\ncuInit 0\ncuInit 46\ncuInit 0\n");
}

TEST(SimulatedDriver, CrashesAndHangs) {
  const int crashed = start({{"MYNAH_FAKE_FAILURES", "cuInit:crash@1"}}, init_result).wait();
  EXPECT_TRUE(WIFSIGNALED(crashed) && WTERMSIG(crashed) == SIGSEGV) << crashed;
  const Child hanging = start({{"MYNAH_FAKE_FAILURES", "cuInit:hang@1"}}, init_result);
  // It sleeps in the call, or has ended.
  char state = 'R';
  while (state != 'S' && state != 'Z') {
    ::usleep(1000);
    std::ifstream file(fmt::format("/proc/{}/stat", hanging.pid));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    state = text.at(text.rfind(") ") + 2);
  }
  ::kill(hanging.pid, SIGKILL);
  EXPECT_EQ(hanging.text(), "");
  EXPECT_TRUE(WIFSIGNALED(hanging.wait()));
}

TEST(SimulatedDriver, ProcessesShareTheCardsMemory) {
  const test::TemporaryFolder folder;
  const Variables shared = {{"MYNAH_FAKE_CARDS", "memory=100"},
                            {"MYNAH_FAKE_MEMORY_FILE", folder / "memory"}};
  auto let_go = Pipe::create();
  ASSERT_TRUE(let_go);
  const Child holder = start(shared, [&](const std::shared_ptr<const Driver>& driver) {
    std::string text = cards(driver);
    gpu::CUdeviceptr memory = 0;
    text += fmt::format("{}", static_cast<int>(driver->api().cuMemAlloc(&memory, 60 << 20)));
    // Says that it holds it, and keeps it until this test has looked.
    char word = '.';
    return ::write(STDERR_FILENO, &word, 1) + ::read(let_go->read_end.get(), &word, 1) == 2
               ? text
               : "broken pipes";
  });
  char holds = 0;
  ASSERT_EQ(::read(holder.answer.get(), &holds, 1), 1);
  const Answer ask = [](const std::shared_ptr<const Driver>& driver) {
    const std::string before = cards(driver);
    gpu::CUdeviceptr memory = 0;
    const gpu::CUresult much = driver->api().cuMemAlloc(&memory, 41 << 20);
    const gpu::CUresult enough = driver->api().cuMemAlloc(&memory, 40 << 20);
    return before + fmt::format("{} {}", static_cast<int>(much), static_cast<int>(enough));
  };
  const std::string while_held = answer_of(shared, ask);
  EXPECT_EQ(::write(let_go->write_end.get(), ".", 1), 1);
  EXPECT_THAT(holder.text(),
              ::testing::AllOf(::testing::HasSubstr(", 100 of 100, "), ::testing::EndsWith("\n0")));
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_THAT(while_held, ::testing::AllOf(::testing::HasSubstr(", 40 of 100, "),
                                           ::testing::EndsWith("\n2 0")));
  // It has freed nothing, but it has ended.
  EXPECT_THAT(answer_of(shared, ask), ::testing::AllOf(::testing::HasSubstr(", 100 of 100, "),
                                                       ::testing::EndsWith("\n0 0")));
}

std::string kokoro_file(const std::string& name) {
  return test::source_path("tests/models/kokoro/golden/" + name);
}

// What the tiny Kokoro of the golden files says on this device.
kokoro::Speech spoken(Backend& backend) {
  const auto file = open_tensor_file(kokoro_file("tiny.pth"));
  auto checkpoint = kokoro::read_checkpoint(*file);
  auto golden = test::OracleArrays::open(kokoro_file("golden.npz"));
  const auto model = kokoro::Kokoro::load(
      Weights(std::move(checkpoint->tensors), checkpoint->owner, backend, WeightOptions{}));
  return model->speak(golden->values<int32_t>("ids"), golden->values("style"), 1.0F);
}

std::unique_ptr<Backend> card_of(const std::shared_ptr<const Driver>& driver) {
  const auto devices = gpu::list_devices(*driver);
  return std::move(*make_cuda_backend(driver, devices->at(0)));
}

TEST(SimulatedDriver, ATinyKokoroSpeaksAsOnTheSimulation) {
  EXPECT_EQ(answer_of({},
                      [](const std::shared_ptr<const Driver>& driver) {
                        ThreadPool pool(1);
                        const auto simulation = make_simt_backend(pool, {.check_shared = false});
                        const auto card = card_of(driver);
                        const kokoro::Speech there = spoken(*card);
                        const kokoro::Speech here = spoken(*simulation);
                        return fmt::format("{}, {}", !there.samples.empty(),
                                           there.samples == here.samples ? "the same" : "others");
                      }),
            "true, the same");
}

TEST(SimulatedDriver, WhatComesDownCanBeSomethingElse) {
  const auto come_back = [](const std::shared_ptr<const Driver>& driver) {
    const auto card = card_of(driver);
    const std::array values = {1.0F, 2.0F};
    const std::vector<float> back =
        ops::to_host(*card, ops::from_host(*card, std::span<const float>(values), {2}));
    return fmt::format("{} {}", back[0], back[1]);
  };
  EXPECT_EQ(answer_of({}, come_back), "1 2");
  EXPECT_THAT(answer_of({{"MYNAH_FAKE_FAILURES", "cuMemcpyDtoHAsync:nan@1"}}, come_back),
              ::testing::HasSubstr("nan"));
  EXPECT_EQ(answer_of({{"MYNAH_FAKE_FAILURES", "cuMemcpyDtoHAsync:wrong@1"}}, come_back),
            "1.25 1.5");
}

}  // namespace
}  // namespace mynah
