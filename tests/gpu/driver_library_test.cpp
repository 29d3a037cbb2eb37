#include "gpu/driver_library.h"

#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/fake_driver/loaded_fake.h"
#include "temporary_folder.h"

namespace mynah::gpu {
namespace {

using fake::fake_library;
using fake::LoadedFake;
using ::testing::HasSubstr;
using ::testing::Not;

// The functions of the table that are null in `api`, by name.
std::vector<std::string_view> missing_in(const DriverApi& api) {
  std::vector<std::string_view> names;
#define MYNAH_LOOK(name, symbol, since, parameters) \
  if (api.name == nullptr) {                        \
    names.emplace_back(#name);                      \
  }
  MYNAH_DRIVER_FUNCTIONS(MYNAH_LOOK)
#undef MYNAH_LOOK
  return names;
}

// The functions of the table that came after a CUDA version.
std::vector<std::string_view> newer_than(int version) {
  std::vector<std::string_view> names;
#define MYNAH_LOOK(name, symbol, since, parameters) \
  if ((since) > version) {                          \
    names.emplace_back(#name);                      \
  }
  MYNAH_DRIVER_FUNCTIONS(MYNAH_LOOK)
#undef MYNAH_LOOK
  return names;
}

class EachDriver : public ::testing::TestWithParam<int> {};

TEST_P(EachDriver, HasTheFunctionsOfItsTimeAndNoOthers) {
  const LoadedFake fake(GetParam());
  const auto driver = fake.driver();
  EXPECT_EQ(driver->version(), GetParam());
  EXPECT_EQ(missing_in(driver->api()), newer_than(GetParam()));
  EXPECT_EQ(driver->api().has_memory_pools(), GetParam() >= 11020);
  EXPECT_EQ(driver->api().has_slice_uuid(), GetParam() >= 11040);
  EXPECT_EQ(driver->api().has_graph_flags(), GetParam() >= 11040);
  EXPECT_EQ(driver->api().has_tensor_maps(), GetParam() >= 12000);
}

INSTANTIATE_TEST_SUITE_P(Drivers, EachDriver, ::testing::Values(11000, 11020, 12000, 13000));

TEST(Driver, OpeningItInitialisesNothing) {
  const LoadedFake fake;
  const auto driver = fake.driver();
  for (const fake::FakeCall& call : fake->calls()) {
    EXPECT_EQ(call.function, "cuDriverGetVersion");
  }
  EXPECT_EQ(std::filesystem::path(driver->path()).filename(), "libfakecuda_13000.so");
}

TEST(Driver, NoneIsAnOrdinaryAnswerThatSaysWhereItLooked) {
  const test::TemporaryFolder folder;
  const auto opened =
      Driver::open({.file = {}, .places = {"libmynah-no-such.so.1", folder / "libcuda.so.1"}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, NoDriver::Reason::Absent);
  EXPECT_EQ(opened.error().error.code, ErrorCode::Environment);
  const std::string& message = opened.error().error.message;
  EXPECT_THAT(message, HasSubstr("libmynah-no-such.so.1, " + folder / "libcuda.so.1"));
  EXPECT_THAT(message, HasSubstr("install NVIDIA's driver (R450 (CUDA 11.0) or newer)"));
  EXPECT_THAT(message, HasSubstr("MYNAH_CUDA_DRIVER"));
}

TEST(Driver, TheSystemsLoaderIsAskedFirst) {
  const std::vector<std::string> places = usual_places("libcuda.so.1");
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.front(), "libcuda.so.1");
  for (const std::string& place : places) {
    EXPECT_TRUE(place.ends_with("libcuda.so.1")) << place;
  }
  EXPECT_THAT(places, ::testing::Contains("/usr/lib/wsl/lib/libcuda.so.1"));
}

TEST(Driver, AStubIsRefusedByWhatItAnswers) {
  const auto opened = Driver::open({.file = {}, .places = {fake_library("stub")}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, NoDriver::Reason::Refused);
  EXPECT_THAT(opened.error().error.message,
              HasSubstr("libfakecuda_stub.so is a CUDA toolkit's stub for linking, not a driver"));
}

TEST(Driver, AStubIsRefusedByItsFolder) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "stubs");
  std::filesystem::copy_file(fake_library("13000"), folder / "stubs/libcuda.so");
  std::filesystem::create_symlink(folder / "stubs/libcuda.so", folder / "libcuda.so.1");
  // Named by itself, and by a link from a folder of another name.
  for (const char* name : {"stubs/libcuda.so", "libcuda.so.1"}) {
    const auto opened = Driver::open({.file = {}, .places = {folder / name}});
    ASSERT_FALSE(opened) << name;
    EXPECT_THAT(opened.error().error.message,
                HasSubstr("stubs/libcuda.so is a CUDA toolkit's stub"));
  }
}

TEST(Driver, AStubIsPassedOverForARealOne) {
  const LoadedFake fake;
  const auto opened = Driver::open({.file = {}, .places = {fake_library("stub"), fake.path()}});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->version(), 13000);
}

TEST(Driver, OneThatIsTooOldIsNamedWithWhatIsNeeded) {
  const LoadedFake fake(11000, {.cards = {}, .version = 10020});
  const auto opened = Driver::open({.file = {}, .places = {fake.path()}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, NoDriver::Reason::Refused);
  EXPECT_THAT(
      opened.error().error.message,
      HasSubstr("is too old: mynah needs driver R450 (CUDA 11.0) or newer; this is CUDA 10.2"));
}

TEST(Driver, OneWithoutTheFunctionsOfItsVersionIsRefused) {
  const auto opened = Driver::open({.file = {}, .places = {fake_library("partial")}});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().error.message, HasSubstr("says that it is driver R550 (CUDA 12.4)"));
  EXPECT_THAT(opened.error().error.message, HasSubstr("lacks cuInit, "));
  EXPECT_THAT(opened.error().error.message, HasSubstr(" more"));
  // Of the functions that such a driver may lack nothing is said.
  EXPECT_THAT(opened.error().error.message, Not(HasSubstr("cuMemAllocAsync")));
}

TEST(Driver, AFileThatCannotBeLoadedIsNamedWithTheReason) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "libcuda.so.1", "not a library");
  const auto opened = Driver::open({.file = {}, .places = {folder / "libcuda.so.1"}});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, NoDriver::Reason::Refused);
  EXPECT_THAT(opened.error().error.message,
              HasSubstr(folder / "libcuda.so.1" + " cannot be loaded: "));
}

TEST(Driver, ALibraryThatIsNoDriverIsRefused) {
  const auto opened = Driver::open({.file = {}, .places = {"libm.so.6"}});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().error.message, HasSubstr("is no CUDA driver"));
}

TEST(Driver, AVersionThatItDoesNotTellIsAnError) {
  const LoadedFake fake;
  fake->fail({.function = "cuDriverGetVersion", .result = CUDA_ERROR_UNKNOWN});
  const auto opened = Driver::open({.file = {}, .places = {fake.path()}});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().error.message, HasSubstr("CUDA_ERROR_UNKNOWN (999)"));
}

TEST(Driver, ANamedFileIsTheOnlyOneThatIsTried) {
  const LoadedFake fake;
  const test::TemporaryFolder folder;
  const auto absent = Driver::open({.file = folder / "none.so", .places = {fake.path()}});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().reason, NoDriver::Reason::Named);
  EXPECT_THAT(absent.error().error.message,
              HasSubstr("there is no " + folder / "none.so" + ", which MYNAH_CUDA_DRIVER names"));
  const auto stub = Driver::open({.file = fake_library("stub"), .places = {fake.path()}});
  ASSERT_FALSE(stub);
  EXPECT_THAT(stub.error().error.message, HasSubstr("MYNAH_CUDA_DRIVER: "));
}

TEST(Driver, ItsReleaseIsInTheNameOfItsFile) {
  const test::TemporaryFolder folder;
  std::filesystem::copy_file(fake_library("12000"), folder / "libcuda.so.525.60.13");
  std::filesystem::create_symlink("libcuda.so.525.60.13", folder / "libcuda.so.1");
  const auto opened = Driver::open({.file = {}, .places = {folder / "libcuda.so.1"}});
  ASSERT_TRUE(opened);
  EXPECT_EQ((*opened)->release(), "525.60.13");
  EXPECT_EQ(LoadedFake().driver()->release(), "");
}

}  // namespace
}  // namespace mynah::gpu
