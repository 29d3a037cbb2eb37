#include "gpu/driver_errors.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "gpu/ptx.h"

namespace mynah::gpu {
namespace {

using ::testing::HasSubstr;

TEST(DriverError, EveryKnownOneSaysWhatItMeansAndWhatHelps) {
  std::set<std::string_view> names;
  for (int number = 0; number <= 999; ++number) {
    const DriverError error = explain(static_cast<CUresult>(number));
    EXPECT_FALSE(error.meaning.empty()) << number;
    EXPECT_FALSE(error.remedy.empty()) << number;
    EXPECT_EQ(error.result, number);
    if (!error.name.empty()) {
      EXPECT_TRUE(names.insert(error.name).second) << error.name << " is there twice";
      // They stand behind "NAME: " and before "; REMEDY" in one line.
      EXPECT_EQ(error.meaning.find("; "), std::string_view::npos) << error.meaning;
      EXPECT_FALSE(error.meaning.ends_with('.')) << error.meaning;
      EXPECT_FALSE(error.remedy.ends_with('.')) << error.remedy;
    }
  }
  EXPECT_EQ(names.size(), 97U);
  EXPECT_EQ(explain(CUDA_ERROR_ILLEGAL_ADDRESS).name, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST(DriverError, SaysHowMuchAFailedCallTakesWithIt) {
  for (const CUresult result :
       {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY,
        CUDA_ERROR_INVALID_PTX, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED}) {
    EXPECT_EQ(explain(result).scope, ErrorScope::Call) << result;
  }
  for (const CUresult result :
       {CUDA_ERROR_ILLEGAL_ADDRESS, CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT,
        CUDA_ERROR_HARDWARE_STACK_ERROR, CUDA_ERROR_ILLEGAL_INSTRUCTION,
        CUDA_ERROR_MISALIGNED_ADDRESS, CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC,
        CUDA_ERROR_LAUNCH_FAILED, CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTAINED}) {
    EXPECT_EQ(explain(result).scope, ErrorScope::Context) << result;
  }
  for (const CUresult result :
       {CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_DEVICE_UNAVAILABLE,
        CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_SYSTEM_NOT_READY,
        CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUDA_ERROR_UNKNOWN}) {
    EXPECT_EQ(explain(result).scope, ErrorScope::Device) << result;
  }
  EXPECT_EQ(name(ErrorScope::Context), "context");
}

TEST(DriverError, OneThatIsNotKnownIsTakenForTheContextsDeath) {
  const DriverError error = explain(static_cast<CUresult>(12345));
  EXPECT_EQ(error.scope, ErrorScope::Context);
  EXPECT_EQ(error.name, "");
  const Error made = driver_failure(static_cast<CUresult>(12345), "launching softmax", 0);
  EXPECT_THAT(made.message, HasSubstr("launching softmax: CUDA error 12345: "));
  EXPECT_EQ(made.code, ErrorCode::Device);
}

TEST(DriverError, TheMessageHasAttemptNumberNameDriverMeaningAndRemedy) {
  const Error error =
      driver_failure(CUDA_ERROR_OUT_OF_MEMORY, "allocating 4096 bytes on cuda:0", 12040);
  EXPECT_EQ(
      error.message,
      "allocating 4096 bytes on cuda:0: CUDA_ERROR_OUT_OF_MEMORY (2) of driver R550 (CUDA 12.4): "
      "the device has not enough free memory; close other programs that use the card "
      "(nvidia-smi lists them), or take a smaller model, a smaller storage type or a smaller "
      "batch");
  EXPECT_EQ(error.code, ErrorCode::OutOfMemory);
}

TEST(DriverError, WhatTheUserCanMendHasAnExitCodeOfItsOwn) {
  EXPECT_EQ(driver_failure(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "loading", 11000).code,
            ErrorCode::Environment);
  EXPECT_EQ(exit_code(driver_failure(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "starting", 0).code), 3);
  EXPECT_EQ(driver_failure(CUDA_ERROR_NO_BINARY_FOR_GPU, "loading", 0).code,
            ErrorCode::Unsupported);
}

// The fake driver has a list of its own of what kills a context: neither may know more than the
// other.
TEST(DriverError, TheFakeDriversContextsDieOfTheSameErrors) {
  for (int number = 1; number <= 999; ++number) {
    const auto result = static_cast<CUresult>(number);
    const DriverError error = explain(result);
    if (error.name.empty() || result == CUDA_ERROR_DEINITIALIZED ||
        result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
      continue;
    }
    fake::LoadedFake fake;
    const auto driver = fake.driver();
    const DriverApi& api = driver->api();
    CUcontext context = nullptr;
    ASSERT_EQ(api.cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(api.cuCtxSetCurrent(context), CUDA_SUCCESS);
    fake->fail({.function = "cuCtxSynchronize", .result = result});
    EXPECT_EQ(api.cuCtxSynchronize(), result);
    if (error.scope == ErrorScope::Context) {
      EXPECT_EQ(api.cuCtxSynchronize(), result) << error.name;
    } else if (error.scope == ErrorScope::Call) {
      EXPECT_EQ(api.cuCtxSynchronize(), CUDA_SUCCESS) << error.name;
    }
    api.cuDevicePrimaryCtxRelease(0);
  }
}

TEST(Ptx, TheDriverThatCompilesIt) {
  EXPECT_EQ(driver_for_ptx({.major = 6, .minor = 0}), 11000);
  EXPECT_EQ(driver_for_ptx({.major = 6, .minor = 5}), 11000);
  EXPECT_EQ(driver_for_ptx({.major = 7, .minor = 0}), 11000);
  EXPECT_EQ(driver_for_ptx({.major = 7, .minor = 8}), 11080);
  EXPECT_EQ(driver_for_ptx({.major = 8, .minor = 0}), 12000);
  EXPECT_EQ(driver_for_ptx({.major = 8, .minor = 6}), 12070);
  EXPECT_EQ(driver_for_ptx({.major = 9, .minor = 1}), 13010);
  EXPECT_EQ(driver_for_ptx({.major = 99, .minor = 0}), std::nullopt);
}

TEST(Ptx, DriversAreNamedByBranchAndCudaVersion) {
  EXPECT_EQ(driver_branch(12040), "R550");
  EXPECT_EQ(driver_branch(12041), "R550");
  EXPECT_EQ(driver_branch(10020), "");
  EXPECT_EQ(driver_name(11000), "R450 (CUDA 11.0)");
  EXPECT_EQ(driver_name(14000), "CUDA 14.0");
  EXPECT_EQ(needs_driver(12000, 11040),
            "needs driver R525 (CUDA 12.0) or newer; this is R470 (CUDA 11.4)");
}

}  // namespace
}  // namespace mynah::gpu
