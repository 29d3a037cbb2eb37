#include "place/state/status_page.h"

#include <algorithm>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mynah::place {
namespace {

std::optional<std::string> own_text() {
  for (const OtherProcess& other : find_status_pages()) {
    if (other.pid == ::getpid()) {
      return other.text;
    }
  }
  return std::nullopt;
}

TEST(StatusPage, IsFoundThroughProcAndGoesWithItsOwner) {
  EXPECT_EQ(own_text(), std::nullopt);
  {
    auto page = StatusPage::create();
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(own_text(), "");
    page->write("hello");
    EXPECT_EQ(own_text(), "hello");
    page->write("");
    EXPECT_EQ(own_text(), "");
  }
  EXPECT_EQ(own_text(), std::nullopt);
}

TEST(StatusPage, ATextThatIsTooLongIsCut) {
  auto page = StatusPage::create();
  page->write(std::string(1 << 20, 'x'));
  EXPECT_EQ(own_text(), std::string(1 << 15, 'x'));
}

TEST(StatusPage, SomebodyMayAskThatThingsBeLetGo) {
  auto page = StatusPage::create();
  EXPECT_FALSE(page->take_unload_request());
  ASSERT_TRUE(request_unload(::getpid()));
  ASSERT_TRUE(request_unload(::getpid()));
  EXPECT_TRUE(page->take_unload_request());
  EXPECT_FALSE(page->take_unload_request()) << "once";
  const Status nobody = request_unload(1 << 30);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::NotFound);
}

// A page that somebody else made, with any bytes.
UniqueFd odd_page(const std::string& bytes, bool sealed) {
  UniqueFd fd(::memfd_create("mynah-status", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(fd.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  if (sealed) {
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  }
  return fd;
}

TEST(StatusPage, PagesThatAreNoneAreLeftOut) {
  constexpr size_t kWhole = 12 + (1 << 15);
  {
    const UniqueFd fd = odd_page("short", true);
    EXPECT_EQ(own_text(), std::nullopt);
  }
  {
    const UniqueFd fd = odd_page(std::string(kWhole, '\0'), false);
    EXPECT_EQ(own_text(), std::nullopt) << "it could be cut short while it is read";
  }
  {
    // Its owner was stopped in the middle of writing: the sequence is odd.
    std::string bytes(kWhole, '\0');
    bytes[0] = 1;
    const UniqueFd fd = odd_page(bytes, true);
    EXPECT_EQ(own_text(), std::nullopt);
  }
  {
    // A length that is longer than the page.
    std::string bytes(kWhole, '\0');
    bytes.replace(8, 4, "\xff\xff\xff\xff");
    const UniqueFd fd = odd_page(bytes, true);
    EXPECT_EQ(own_text(), std::nullopt);
  }
  const UniqueFd fd = odd_page(std::string(kWhole, '\0'), true);
  EXPECT_EQ(own_text(), "") << "one as it should be is found";
}

}  // namespace
}  // namespace mynah::place
