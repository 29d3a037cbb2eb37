// Several replies of a tiny language model to one request.
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "chat/chat_model.h"
#include "chat/tiny_language.h"
#include "formats/open.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

class Replies : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = test::write_tiny_language(folder_ / "tiny.gguf");
    const auto file = open_tensor_file(path);
    ASSERT_TRUE(file) << file.error().message;
    const auto language = load_language_model(path, {}, *backend_);
    ASSERT_TRUE(language) << language.error().message;
    auto chat = ChatModel::open(*file, *language);
    ASSERT_TRUE(chat) << chat.error().message;
    chat_ = *std::move(chat);
    request_.messages = {{{"role", "user"}, {"content", "Hi."}}};
    request_.choice.most_tokens = 30;
    request_.owner = "me";
  }

  test::TemporaryFolder folder_;
  ThreadPool pool_{1};
  std::unique_ptr<Backend> backend_ = *make_cpu_backend(pool_);
  std::unique_ptr<ChatModel> chat_;
  ChatRequest request_;
};

// Notes how many there are at most, and may refuse to hear more, or stop all.
class ReplyWatcher final : public ChatObserver {
 public:
  explicit ReplyWatcher(const ChatModel& chat) : chat_(chat) {}

  Status on_delta(const ChatDelta& /*delta*/) override {
    const GenerationLoad load = chat_.load();
    most_ = std::max(most_, load.waiting + load.writing);
    if (stops_ != nullptr) {
      stops_->request_stop();
    }
    return refuses_ ? fail(ErrorCode::Io, "nobody listens") : Status();
  }

  Status on_end(const ChatReply& reply) override {
    ended_ = reply.message.content + reply.message.reasoning;
    return {};
  }

  const ChatModel& chat_;
  bool refuses_ = false;
  std::stop_source* stops_ = nullptr;
  size_t most_ = 0;
  std::string ended_;
};

TEST_F(Replies, AreWrittenSomeAtATime) {
  std::vector<std::unique_ptr<ReplyWatcher>> watchers;
  std::vector<ChatObserver*> observers;
  for (size_t i = 0; i < 3 * ChatModel::kSideBySide; ++i) {
    observers.push_back(watchers.emplace_back(std::make_unique<ReplyWatcher>(*chat_)).get());
  }
  const auto all = chat_->replies(request_, observers, {});
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), observers.size());
  size_t most = 0;
  for (size_t i = 0; i < all->size(); ++i) {
    const ReplyMessage& message = (*all)[i].message;
    EXPECT_EQ(watchers[i]->ended_, message.content + message.reasoning);
    EXPECT_EQ(message, all->front().message) << "the likeliest words are the same";
    most = std::max(most, watchers[i]->most_);
  }
  EXPECT_LE(most, ChatModel::kSideBySide);
  EXPECT_GT((*all)[1].spent.cached_tokens, 0);
}

TEST_F(Replies, EndTogetherWhereOneIsNotHeard) {
  request_.choice.most_tokens = 0;
  std::vector<std::unique_ptr<ReplyWatcher>> watchers;
  std::vector<ChatObserver*> observers;
  for (size_t i = 0; i < 20; ++i) {
    observers.push_back(watchers.emplace_back(std::make_unique<ReplyWatcher>(*chat_)).get());
  }
  watchers[2]->refuses_ = true;
  const auto all = chat_->replies(request_, observers, {});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().message, "nobody listens");
  EXPECT_EQ(chat_->load().writing + chat_->load().waiting, 0U);
}

TEST_F(Replies, AStopEndsAll) {
  request_.choice.most_tokens = 0;
  std::stop_source stop;
  std::vector<std::unique_ptr<ReplyWatcher>> watchers;
  std::vector<ChatObserver*> observers;
  for (size_t i = 0; i < 20; ++i) {
    observers.push_back(watchers.emplace_back(std::make_unique<ReplyWatcher>(*chat_)).get());
  }
  watchers[0]->stops_ = &stop;
  const auto all = chat_->replies(request_, observers, stop.get_token());
  ASSERT_FALSE(all) << "not all were begun when it was stopped";
  EXPECT_EQ(all.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(chat_->load().writing + chat_->load().waiting, 0U);
}

}  // namespace
}  // namespace mynah
