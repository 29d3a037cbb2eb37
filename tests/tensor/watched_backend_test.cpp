// A watched backend does what the one behind it does, and fails where it is told to.
#include "tensor/watched_backend.h"

#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden_backend.h"
#include "ops/op_case.h"
#include "ops/ops.h"
#include "tensor/device_error.h"
#include "tensor/fault_watch.h"

namespace mynah {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::byte> bytes_of(Backend& backend, const Tensor& x) {
  const Tensor whole = x.contiguous() ? x : ops::copy(backend, x);
  std::vector<std::byte> bytes(storage_bytes(x.dtype(), x.elements()));
  if (!bytes.empty()) {
    backend.download(whole, bytes.data());
  }
  return bytes;
}

// Writes down what it hears.
class Listener final : public BackendWatch {
 public:
  void before(std::string_view operation) override { heard.emplace_back(operation); }

  void after(std::string_view operation, Backend& /*backend*/, const Tensor& out) override {
    heard.push_back(std::string(operation) + " " + out.shape().str());
  }

  std::vector<std::string> heard;
};

// Every row of the table, whatever the operation: what a wrapper swaps or forgets shows.
TEST(WatchedBackend, DoesWhatTheOneBehindItDoes) {
  ThreadPool pool(2);
  const auto plain = test::golden_backend(DeviceKind::Cpu, pool);
  ASSERT_NE(plain, nullptr);
  uint64_t operations = 0;
  uint64_t rows = 0;
  for (const cases::OpCase& c : cases::op_cases()) {
    if (c.large || (c.weight && !plain->supports_weight(*c.weight))) {
      continue;
    }
    SCOPED_TRACE(c.title());
    WatchedBackend watched(*plain);
    const std::vector<Tensor> expected = c.prepare(*plain)();
    const std::vector<Tensor> got = c.prepare(watched)();
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(bytes_of(watched, got[i]), bytes_of(*plain, expected[i]));
    }
    operations += watched.operations();
    ++rows;
  }
  EXPECT_GT(operations, rows) << "inputs and operations";
}

class Watched : public testing::TestWithParam<DeviceKind> {
 protected:
  // (x + x) * 3, in two operations that compute.
  static Tensor six_fold(Backend& backend, const Tensor& x) {
    return ops::affine(backend, ops::add(backend, x, x), 3.0F);
  }

  static Tensor some(Backend& backend) {
    return ops::from_host(backend, std::vector<float>{1, 2, 3, 4}, {2, 2});
  }

  // six_fold() as a step of a loop.
  static std::vector<float> step(Backend& backend, StepRunner& steps, const Tensor& x) {
    std::vector<float> values(4);
    steps.run(
        [&](const BufferRef& memory) {
          const Tensor out(memory, 0, {2, 2}, DType::F32, backend.device());
          ops::copy_into(backend, six_fold(backend, x), out);
        },
        std::as_writable_bytes(std::span(values)));
    return values;
  }

  ThreadPool pool_{2};
  std::unique_ptr<Backend> plain_ = test::golden_backend(GetParam(), pool_);
};

TEST_P(Watched, TellsOfEveryOperationAndWhatItWrote) {
  Listener listener;
  WatchedBackend watched(*plain_, &listener);
  EXPECT_THAT(ops::to_host(watched, six_fold(watched, some(watched))), ElementsAre(6, 12, 18, 24));
  EXPECT_THAT(listener.heard, ElementsAre("from_host", "binary", "binary (2, 2)", "affine",
                                          "affine (2, 2)", "download"));
  EXPECT_EQ(watched.operations(), 4U);
}

TEST_P(Watched, SharesTheTensorsOfTheOneBehindIt) {
  WatchedBackend one(*plain_);
  WatchedBackend other(*plain_);
  EXPECT_TRUE(share_tensors(one, other));
  EXPECT_TRUE(share_tensors(*plain_, one));
  EXPECT_THAT(ops::to_host(*plain_, six_fold(other, some(one))), ElementsAre(6, 12, 18, 24));
  const auto apart = test::golden_backend(GetParam(), pool_);
  EXPECT_FALSE(share_tensors(one, *apart));
}

TEST_P(Watched, HearsOfEveryStepOfALoop) {
  Listener listener;
  WatchedBackend watched(*plain_, &listener);
  const auto steps = watched.make_step_runner();
  const Tensor x = some(watched);
  for (int i = 0; i < 4; ++i) {  // done, captured, then replayed where there are graphs
    listener.heard.clear();
    EXPECT_THAT(step(watched, *steps, x), ElementsAre(6, 12, 18, 24));
    EXPECT_THAT(listener.heard, ElementsAre("binary", "binary (2, 2)", "affine", "affine (2, 2)",
                                            "copy", "copy (2, 2)"));
  }
}

TEST_P(Watched, CountsTheKernelsThatAreLaunched) {
  WatchedBackend watched(*plain_);
  const auto steps = watched.make_step_runner();
  const Tensor x = some(watched);
  for (int i = 0; i < 4; ++i) {
    const uint64_t before = watched.launches();
    step(watched, *steps, x);
    EXPECT_EQ(watched.launches() - before, GetParam() == DeviceKind::Simt ? 3U : 0U);
  }
  const uint64_t before = watched.launches();
  static_cast<void>(six_fold(watched, x));
  EXPECT_EQ(watched.launches() - before, GetParam() == DeviceKind::Simt ? 2U : 0U);
}

TEST_P(Watched, IsASignOfLifeForOtherThreads) {
  WatchedBackend watched(*plain_);
  const Tensor x = some(watched);  // before the other thread begins to count
  std::atomic<bool> moved = false;
  std::jthread reader([&](const std::stop_token& stop) {
    const uint64_t first = watched.operations();
    while (!stop.stop_requested() && !moved) {
      moved = watched.operations() > first + 100;
    }
  });
  int64_t added = 0;
  while (!moved) {  // for ever where the other thread does not see it; ./dev's limit for a test
                    // ends that
    static_cast<void>(ops::add(watched, x, x));
    ++added;
  }
  EXPECT_GT(added, 100);
}

TEST_P(Watched, ADeviceThatIsLostStaysLost) {
  FaultWatch fault;
  WatchedBackend watched(*plain_, &fault);
  const Tensor x = some(watched);
  fault.arm(FaultKind::Lost, 2);
  const Tensor twice = ops::add(watched, x, x);
  EXPECT_FALSE(fault.struck());
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(ops::add(watched, x, x));
      ADD_FAILURE() << "no error";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.error().code, ErrorCode::Device);
      EXPECT_THAT(error.error().message, HasSubstr("device lost"));
    }
  }
  EXPECT_TRUE(fault.struck());
  fault.disarm();
  EXPECT_THAT(ops::to_host(watched, twice), ElementsAre(2, 4, 6, 8));
}

TEST_P(Watched, MemoryRunsOutOnce) {
  FaultWatch fault;
  WatchedBackend watched(*plain_, &fault);
  const Tensor x = some(watched);
  fault.arm(FaultKind::OutOfMemory, 1);
  try {
    static_cast<void>(ops::add(watched, x, x));
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.error().code, ErrorCode::OutOfMemory);
  }
  EXPECT_THAT(ops::to_host(watched, ops::add(watched, x, x)), ElementsAre(2, 4, 6, 8));
}

TEST_P(Watched, ResultsAreNoNumbersFromThenOn) {
  FaultWatch fault;
  WatchedBackend watched(*plain_, &fault);
  const Tensor x = some(watched);
  fault.arm(FaultKind::Nan, 2);
  EXPECT_THAT(ops::to_host(*plain_, ops::add(watched, x, x)), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(ops::to_host(*plain_, ops::add(watched, x, x)), Each(testing::IsNan()));
  EXPECT_THAT(ops::to_host(*plain_, ops::add(watched, x, x)), Each(testing::IsNan()));
}

// A result that is a part of a wider tensor's rows: what stands beside it stays.
TEST_P(Watched, OnlyTheResultIsNoNumber) {
  FaultWatch fault;
  WatchedBackend watched(*plain_, &fault);
  const Tensor wide = ops::from_host(watched, std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor x = some(watched);
  fault.arm(FaultKind::Nan, 1);
  watched.copy(x, wide.narrow(1, 1, 2));
  const std::vector<float> values = ops::to_host(*plain_, wide);
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
  EXPECT_EQ(values[3], 4);
  EXPECT_TRUE(std::isnan(values[4]) && std::isnan(values[5]));
}

TEST_P(Watched, ProductsAreWrongFromThenOn) {
  FaultWatch fault;
  WatchedBackend watched(*plain_, &fault);
  const Tensor x = ops::from_host(watched, std::vector<float>{1, 2, 3, 4}, {1, 2, 2});
  const Tensor one = ops::from_host(watched, std::vector<float>{1, 0, 0, 1}, {1, 2, 2});
  EXPECT_THAT(ops::to_host(*plain_, ops::matmul(watched, x, one)), ElementsAre(1, 2, 3, 4));
  fault.arm(FaultKind::Wrong, 1);
  EXPECT_THAT(ops::to_host(*plain_, ops::add(watched, x, x)), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(ops::to_host(*plain_, ops::matmul(watched, x, one)), ElementsAre(1.25, 2.5, 3.75, 5));
  EXPECT_THAT(ops::to_host(*plain_, ops::matmul(watched, x, one)), ElementsAre(1.25, 2.5, 3.75, 5));
}

// In a step, at one that is launched, one that is captured and one that is replayed.
TEST_P(Watched, FaultsStrikeWithinSteps) {
  for (const uint64_t steps_before : {0U, 1U, 2U}) {
    SCOPED_TRACE(steps_before);
    FaultWatch fault;
    WatchedBackend watched(*plain_, &fault);
    const auto steps = watched.make_step_runner();
    const Tensor x = some(watched);
    for (uint64_t i = 0; i < steps_before; ++i) {
      step(watched, *steps, x);
    }
    fault.arm(FaultKind::Nan, 2);
    EXPECT_THAT(step(watched, *steps, x), Each(testing::IsNan()));
    fault.disarm();
    EXPECT_THAT(step(watched, *steps, x), ElementsAre(6, 12, 18, 24));
    fault.arm(FaultKind::OutOfMemory, 2);
    EXPECT_THROW(step(watched, *steps, x), DeviceError);
    EXPECT_THAT(step(watched, *steps, x), ElementsAre(6, 12, 18, 24));
    fault.arm(FaultKind::Lost, 1);
    EXPECT_THROW(step(watched, *steps, x), DeviceError);
    EXPECT_THROW(step(watched, *steps, x), DeviceError);
  }
}

// The rest end or stop the process: in one of their own.
class Doomed : public Watched {
 protected:
  // Runs operations in a child until the fault strikes at the third; the child ends with 17 where
  // it does not. Returns the child.
  pid_t run_in_child(FaultKind kind) {
    const pid_t child = ::fork();
    if (child != 0) {
      return child;
    }
    // No thread of this process is in the child: a pool of its own.
    ThreadPool pool(1);
    const auto plain = test::golden_backend(GetParam(), pool);
    FaultWatch fault;
    WatchedBackend watched(*plain, &fault);
    const auto steps = watched.make_step_runner();
    const Tensor x = some(watched);
    fault.arm(kind, 4);  // in the second step
    step(watched, *steps, x);
    if (::write(alive_[1], "1", 1) == 1) {
      step(watched, *steps, x);
    }
    ::_exit(17);
  }

  // Until the child has done its first step; whether it has.
  bool wait_for_first_step() {
    char byte = 0;
    return ::read(alive_[0], &byte, 1) == 1;
  }

  void SetUp() override { ASSERT_EQ(::pipe(alive_.data()), 0); }

  void TearDown() override {
    ::close(alive_[0]);
    ::close(alive_[1]);
  }

  std::array<int, 2> alive_{};
};

TEST_P(Doomed, CrashesByItsOwnSignal) {
  const pid_t child = run_in_child(FaultKind::Crash);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(wait_for_first_step());
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

TEST_P(Doomed, EndsAsIfAllWereWell) {
  const pid_t child = run_in_child(FaultKind::Exit);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(wait_for_first_step());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(Doomed, StopsUntilItMayGoOn) {
  const pid_t child = run_in_child(FaultKind::Stop);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_TRUE(wait_for_first_step());
  ASSERT_EQ(::kill(child, SIGCONT), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 17);
}

// A thread that sleeps is all that can be seen of an operation that never ends; the child is ended.
TEST_P(Doomed, NeverComesBack) {
  const pid_t child = run_in_child(FaultKind::Hang);
  ASSERT_TRUE(wait_for_first_step());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended";
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(FaultKinds, AreCalledByTheirNames) {
  EXPECT_EQ(fault_kind_names(), "lost, oom, nan, wrong, hang, crash, exit, stop");
  EXPECT_EQ(parse_fault_kind("lost"), FaultKind::Lost);
  EXPECT_EQ(parse_fault_kind("oom"), FaultKind::OutOfMemory);
  EXPECT_EQ(parse_fault_kind("stop"), FaultKind::Stop);
  EXPECT_EQ(fault_kind_name(FaultKind::Wrong), "wrong");
  EXPECT_EQ(parse_fault_kind("Lost"), std::nullopt);
  EXPECT_EQ(parse_fault_kind(""), std::nullopt);
}

const auto kDevices = testing::Values(DeviceKind::Ref, DeviceKind::Cpu, DeviceKind::Simt);

std::string name_of(const testing::TestParamInfo<DeviceKind>& device) {
  return test::golden_device(device.param);
}

INSTANTIATE_TEST_SUITE_P(Devices, Watched, kDevices, name_of);
INSTANTIATE_TEST_SUITE_P(Devices, Doomed, kDevices, name_of);

}  // namespace
}  // namespace mynah
