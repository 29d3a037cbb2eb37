// Figures as Prometheus reads them, and what is known of requests under way.
#include "server/metrics/metrics.h"

#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/metrics/work_board.h"

namespace mynah::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string text_of(const Metrics& metrics) {
  Exposition told;
  metrics.tell(told);
  return std::move(told).text();
}

TEST(Exposition, EscapesWhatWouldEndALineOrALabel) {
  Exposition told;
  told.gauge("a_b", "one\\two\nthree");
  told.sample(1.5, {{"x", "q\"\\\n"}, {"y", "z"}});
  told.sample(std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::move(told).text(),
            "# HELP a_b one\\\\two\\nthree\n# TYPE a_b gauge\n"
            "a_b{x=\"q\\\"\\\\\\n\",y=\"z\"} 1.5\na_b +Inf\n");
}

TEST(Exposition, BucketsAreOfAllBelowThem) {
  constexpr std::array kBounds = {0.5, 2.0};
  Histogram<kBounds.size()> counted(kBounds);
  for (const double value : {0.5, 1.0, 2.0, 7.0}) {
    counted.add(value);
  }
  Exposition told;
  told.histogram("h", "x");
  counted.tell(told, {{"a", "b"}});
  EXPECT_EQ(std::move(told).text(),
            "# HELP h x\n# TYPE h histogram\nh_bucket{a=\"b\",le=\"0.5\"} 1\n"
            "h_bucket{a=\"b\",le=\"2\"} 3\nh_bucket{a=\"b\",le=\"+Inf\"} 4\n"
            "h_sum{a=\"b\"} 10.5\nh_count{a=\"b\"} 4\n");
}

TEST(Metrics, CountsWhatIsDoneFromManyThreads) {
  Metrics metrics;
  {
    std::vector<std::jthread> all;
    all.reserve(4);
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&metrics] {
        for (int k = 0; k < 100; ++k) {
          metrics.count_request("/v1/models", {.status = 200, .bytes = 2, .received = 1});
          metrics.count_heard(2, 1);
          metrics.count_window(8);
        }
      });
    }
  }
  metrics.watch([](Exposition& to) {
    to.gauge("mynah_x", "X.");
    to.sample(3);
  });
  const std::string told = text_of(metrics);
  EXPECT_THAT(told, HasSubstr("mynah_requests_total{route=\"/v1/models\",status=\"200\"} 400\n"));
  EXPECT_THAT(told, HasSubstr("mynah_body_bytes_total{direction=\"out\"} 800\n"));
  EXPECT_THAT(told, HasSubstr("mynah_audio_seconds_total{task=\"hear\"} 800\n"));
  EXPECT_THAT(told, HasSubstr("mynah_real_time_factor{task=\"hear\"} 0.5\n"));
  EXPECT_THAT(told, HasSubstr("mynah_batch_windows_bucket{le=\"4\"} 0\n"));
  EXPECT_THAT(told, HasSubstr("mynah_batch_windows_bucket{le=\"8\"} 400\n"));
  EXPECT_THAT(told, HasSubstr("# TYPE mynah_x gauge\nmynah_x 3\n"));
}

TEST(RequestWork, IsFoundByItsThreadAndBeginsOnce) {
  EXPECT_EQ(RequestWork::here(), nullptr);
  const auto work = std::make_shared<RequestWork>("req_1");
  {
    const RequestScope scope(work);
    EXPECT_EQ(RequestWork::here(), work);
    std::jthread([] { EXPECT_EQ(RequestWork::here(), nullptr); }).join();
  }
  EXPECT_EQ(RequestWork::here(), nullptr);
  EXPECT_EQ(work->waited(), std::nullopt);
  work->begin();
  const auto waited = work->waited();
  ASSERT_TRUE(waited);
  EXPECT_GE(*waited, std::chrono::nanoseconds(0));
  std::this_thread::yield();
  work->begin();
  EXPECT_EQ(work->waited(), waited) << "the first time counts";
}

TEST(WorkBoard, HasThoseThatWantAModelAsLongAsTheyLive) {
  WorkBoard board;
  const auto one = std::make_shared<RequestWork>("one");
  const auto two = std::make_shared<RequestWork>("two");
  const WorkBoard::Entry first(board, one);
  EXPECT_THAT(board.working(), IsEmpty()) << "a list of models, say";
  one->want(RequestWork::Does::Hear);
  {
    const WorkBoard::Entry second(board, two);
    EXPECT_EQ(board.place_of(*two), std::nullopt) << "it wants nothing";
    two->want(RequestWork::Does::Speak);
    EXPECT_THAT(board.working(), SizeIs(2));
    EXPECT_EQ(board.place_of(*two)->number, 2U);
    EXPECT_EQ(board.place_of(*one)->waiting, 2U);
    one->begin();
    EXPECT_EQ(board.place_of(*one), std::nullopt) << "its turn has come";
    EXPECT_EQ(board.place_of(*two)->number, 1U);
  }
  EXPECT_THAT(board.working(), testing::ElementsAre(one));
}

}  // namespace
}  // namespace mynah::server
