// Keys in their file, and how much each may ask for.
#include "server/access/keys.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/access/addresses.h"
#include "server/access/client_secrets.h"
#include "server/access/key_ring.h"
#include "store/files.h"
#include "temporary_folder.h"

namespace mynah::server {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

Key key(std::string name, const std::string& secret) {
  Key made;
  made.name = std::move(name);
  made.digest = digest_of_key(secret);
  return made;
}

TEST(Keys, ComeBackFromTheirFileWithoutTheKey) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "deep/keys.json";
  const auto secret = new_key();
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->size(), std::string("mynah-").size() + 32);
  EXPECT_NE(*secret, *new_key());
  Key made = key("kitchen", *secret);
  made.rights = {Right::Hear, Right::Admin};
  made.limits = {.requests = 60, .audio_s = 600, .at_once = 2};
  made.made = "2026-11-29";
  ASSERT_TRUE(write_keys(path, std::array{made, key("phone", "other")}));
  const auto text = read_text_file(path);
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, Not(HasSubstr(*secret)));
  const auto permissions = std::filesystem::status(path).permissions();
  EXPECT_EQ(permissions & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const auto read = read_keys(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->front().name, "kitchen");
  EXPECT_EQ(read->front().digest, made.digest);
  EXPECT_TRUE(read->front().rights == made.rights);
  EXPECT_TRUE(read->front().limits == made.limits);
  EXPECT_EQ(read->front().made, "2026-11-29");
  EXPECT_TRUE(read->back().rights == kUsualRights);
}

TEST(Keys, ASecondOneOfANameIsRefusedWithItsFile) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "keys.json";
  ASSERT_TRUE(add_key(path, {.name = "kitchen", .digest = {}, .limits = {}, .made = {}}));
  const auto again = add_key(path, {.name = "kitchen", .digest = {}, .limits = {}, .made = {}});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("keys remove kitchen --key-file " + path + "`"));
}

TEST(Keys, WhatIsWrongWithAFileIsSaid) {
  const auto error = [](const std::string& text) {
    const auto keys = parse_keys(text);
    return keys ? "none" : keys.error().message;
  };
  const std::string digest(64, 'a');
  EXPECT_THAT(error(""), HasSubstr(R"({"keys": [...]})"));
  EXPECT_THAT(error("[]"), HasSubstr(R"({"keys": [...]})"));
  EXPECT_THAT(error(R"({"keys":[1]})"), HasSubstr("a key's name"));
  EXPECT_THAT(error(R"({"keys":[{"name":"a b","sha256":")" + digest + R"("}]})"),
              HasSubstr("found 'a b'"));
  EXPECT_THAT(error(R"({"keys":[{"name":"a","sha256":"secret"}]})"), HasSubstr("64"));
  EXPECT_THAT(error(R"({"keys":[{"name":"a","sha256":")" + digest + R"(","rights":["fly"]}]})"),
              HasSubstr("found 'fly'"));
  EXPECT_THAT(
      error(R"({"keys":[{"name":"a","sha256":")" + digest + R"(","limits":{"at_once":-1}}]})"),
      HasSubstr("at_once"));
  EXPECT_THAT(error(R"({"keys":[{"name":"a","sha256":")" + digest + R"("},{"name":"a","sha256":")" +
                    digest + R"("}]})"),
              HasSubstr("two keys"));
  EXPECT_EQ(error(R"({"keys":[]})"), "none");
}

// A ring with one key of a file, and a clock that stands.
class Limited : public ::testing::Test {
 protected:
  void write(KeyLimits limits) {
    Key made = key("kitchen", "secret");
    made.limits = limits;
    ASSERT_TRUE(write_keys(path_, std::array{made}));
  }

  void open() {
    auto ring = KeyRing::open({.secrets = {}, .file = path_}, [this] { return now_; });
    ASSERT_TRUE(ring) << ring.error().message;
    ring_ = *std::move(ring);
  }

  // How long the next request is to wait, in milliseconds; 0: it was let in.
  int64_t begin() {
    const auto full = ring_->begin("kitchen");
    why_ = full ? full->message : std::string();
    return full ? full->wait.count() : 0;
  }

  test::TemporaryFolder folder_;
  std::string why_;  // it was not
  std::string path_ = folder_ / "keys.json";
  KeyRing::Clock::time_point now_{std::chrono::hours(1)};
  std::unique_ptr<KeyRing> ring_;
};

TEST_F(Limited, ByRequestsAMinute) {
  write({.requests = 3});
  open();
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), 20'000) << "three a minute are one in twenty seconds";
  EXPECT_EQ(why_, "the key kitchen has had its 3 requests a minute: ask again in 20.0 s");
  now_ += std::chrono::seconds(19);
  EXPECT_EQ(begin(), 1'000);
  now_ += std::chrono::seconds(1);
  EXPECT_EQ(begin(), 0);
  now_ += std::chrono::hours(2);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(begin(), 0) << "no more than a minute's share is kept";
  }
  EXPECT_GT(begin(), 0);
}

TEST_F(Limited, ByAudioAMinute) {
  write({.audio_s = 60});
  open();
  EXPECT_EQ(begin(), 0);
  ring_->spend("kitchen", 30);
  EXPECT_FALSE(ring_->wait_for_audio("kitchen"));
  EXPECT_EQ(begin(), 0);
  ring_->spend("kitchen", 600);
  EXPECT_EQ(ring_->wait_for_audio("kitchen"), std::chrono::milliseconds(571'000));
  EXPECT_EQ(begin(), 571'000) << "what was more than a minute's is waited for";
  EXPECT_EQ(why_, "the key kitchen has had its 60 seconds of audio a minute: ask again in 571.0 s");
  now_ += std::chrono::seconds(571);
  EXPECT_EQ(begin(), 0);
}

TEST_F(Limited, ByWhatIsUnderWay) {
  write({.at_once = 2});
  open();
  EXPECT_EQ(begin(), 0);
  EXPECT_EQ(begin(), 0);
  EXPECT_GT(begin(), 0);
  EXPECT_EQ(why_,
            "the key kitchen has 2 requests under way, its limit at once: ask again in 1.0 s");
  ring_->end("kitchen");
  EXPECT_EQ(begin(), 0);
}

TEST_F(Limited, AVisitIsARequest) {
  write({.audio_s = 60, .at_once = 1});
  open();
  {
    const auto visit = Visit::begin(*ring_, "kitchen");
    ASSERT_TRUE(visit);
    const auto second = Visit::begin(*ring_, "kitchen");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::Busy);
    EXPECT_TRUE(Visit::begin(*ring_, "phone")) << "who has no limits";
  }
  EXPECT_EQ(begin(), 0);
}

TEST_F(Limited, TheFileIsReadAgain) {
  write({});
  open();
  ASSERT_TRUE(ring_->find("secret"));
  EXPECT_EQ(ring_->find("secret")->name, "kitchen");
  EXPECT_FALSE(ring_->find("other"));
  EXPECT_FALSE(ring_->find(""));
  ASSERT_TRUE(write_keys(path_, std::array{key("phone", "other")}));
  ASSERT_TRUE(ring_->reload());
  EXPECT_FALSE(ring_->find("secret"));
  EXPECT_TRUE(ring_->find("other"));
  ASSERT_TRUE(write_text_file(path_, "{"));
  EXPECT_FALSE(ring_->reload());
  EXPECT_TRUE(ring_->find("other")) << "a file that cannot be read changes nothing";
  std::filesystem::remove(path_);
  EXPECT_FALSE(ring_->reload());
  EXPECT_FALSE(ring_->empty()) << "a file that goes lets nobody in";
}

TEST_F(Limited, AFileThatWasNamedMustBeThere) {
  const auto open_named = [this] {
    return KeyRing::open({.secrets = {"a"}, .file = path_, .must_be_there = true});
  };
  const auto missing = open_named();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Environment);
  EXPECT_THAT(missing.error().message, HasSubstr("mynah keys add"));
  std::filesystem::create_directory(path_);
  ASSERT_FALSE(open_named());
  EXPECT_EQ(open_named().error().code, ErrorCode::Environment) << "it cannot be read";
  std::filesystem::remove(path_);
  write({});
  EXPECT_TRUE(open_named());
}

TEST_F(Limited, AFileMayBeNamedWithoutAFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto added = add_key("k.json", key("phone", ""));
  std::filesystem::current_path(before);
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(read_keys(folder_ / "k.json")->size(), 1U);
}

TEST(ClientSecrets, OpenOneSocketWithinAMinute) {
  KeyRing::Clock::time_point now{std::chrono::hours(1)};
  ClientSecrets secrets([&now] { return now; });
  const KeyRing::Owner owner{.name = "kitchen", .rights = {Right::Hear}};
  const auto first = secrets.make({.owner = owner, .session = "{}"});
  const auto second = secrets.make({.owner = owner, .session = {}});
  ASSERT_TRUE(first && second);
  EXPECT_THAT(*first, ::testing::StartsWith("ek_"));
  const auto redeemed = secrets.redeem(*first);
  ASSERT_TRUE(redeemed);
  EXPECT_EQ(redeemed->owner.name, "kitchen");
  EXPECT_TRUE(redeemed->owner.rights == owner.rights);
  EXPECT_EQ(redeemed->session, "{}");
  EXPECT_FALSE(secrets.redeem(*first)) << "once";
  EXPECT_FALSE(secrets.redeem("ek_"));
  now += ClientSecrets::kLife;
  EXPECT_FALSE(secrets.redeem(*second)) << "too late";
}

TEST(Addresses, RangesHoldWhatTheySay) {
  const auto holds = [](const char* range, const char* address) {
    const auto parsed = AddressRange::parse(range);
    return parsed && parsed->contains(address);
  };
  EXPECT_TRUE(holds("192.168.0.0/16", "192.168.7.9"));
  EXPECT_FALSE(holds("192.168.0.0/16", "192.169.0.1"));
  EXPECT_TRUE(holds("10.0.0.4/30", "10.0.0.7"));
  EXPECT_FALSE(holds("10.0.0.4/30", "10.0.0.8"));
  EXPECT_TRUE(holds("192.168.1.7", "192.168.1.7"));
  EXPECT_TRUE(holds("192.168.1.7", "::ffff:192.168.1.7"));
  EXPECT_FALSE(holds("192.168.1.7", "192.168.1.8"));
  EXPECT_TRUE(holds("fd00::/8", "fd12::1"));
  EXPECT_FALSE(holds("fd00::/8", "fe80::1"));
  EXPECT_TRUE(holds("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(holds("0.0.0.0/0", "2001:db8::1"));
  EXPECT_FALSE(holds("0.0.0.0/0", "kitchen"));
  for (const char* wrong :
       {"", "/8", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/8x", "lan"}) {
    EXPECT_FALSE(AddressRange::parse(wrong)) << wrong;
  }
  EXPECT_TRUE(is_this_machine("127.0.0.1"));
  EXPECT_TRUE(is_this_machine("/run/mynah.sock"));
  EXPECT_FALSE(is_this_machine("127.evil.example"));
  EXPECT_FALSE(is_this_machine("0.0.0.0"));
}

}  // namespace
}  // namespace mynah::server
