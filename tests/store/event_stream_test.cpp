// Server-sent events: the standard's own examples, any cut, and bounds.
#include "store/event_stream.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mynah {
namespace {

// Each event as "name|data"; "!" where the stream was refused.
std::vector<std::string> events_of(std::string_view bytes, size_t piece, size_t most = 1000) {
  EventStream stream(most);
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const Status pushed =
        stream.push(bytes.substr(at, piece), [&](const ServerEvent& event) -> Status {
          events.push_back(event.name + "|" + event.data);
          return {};
        });
    if (!pushed) {
      events.emplace_back("!");
      break;
    }
  }
  return events;
}

TEST(EventStream, ReadsTheStandardsExamples) {
  struct Example {
    std::string_view bytes;
    std::vector<std::string> events;
  };

  // WHATWG HTML, 9.2.6 "Interpreting an event stream".
  const std::vector<Example> examples = {
      {"data: YHOO\ndata: +2\ndata: 10\n\n", {"|YHOO\n+2\n10"}},
      {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third "
       "event\n\n",
       {"|first event", "|second event", "| third event"}},
      {"data\n\ndata\ndata\n\ndata:", {"|", "|\n"}},
      {"data:test\n\ndata: test\n\n", {"|test", "|test"}},
      {"\xEF\xBB\xBF"
       "data: a\r\n\r\nevent: e\rdata: b\r\rdata: c\n\n",
       {"|a", "e|b", "|c"}},
      {"event: lonely\n\ndata: d\nother: 7\n\n", {"|d"}},
      {"data: not ended", {}},
  };
  for (const Example& example : examples) {
    for (const size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
      EXPECT_EQ(events_of(example.bytes, piece), example.events) << example.bytes << piece;
    }
  }
}

TEST(EventStream, KeepsIdsAndWaits) {
  EventStream stream(1000);
  const auto none = [](const ServerEvent&) { return Status(); };
  ASSERT_TRUE(stream.push("id: 7\nretry: 250\ndata: a\n\n", none));
  EXPECT_EQ(stream.last_id(), "7");
  EXPECT_EQ(stream.retry(), std::chrono::milliseconds(250));
  ASSERT_TRUE(stream.push("data: b\nretry: soon\nretry: 99999999999\n\n", none));
  EXPECT_EQ(stream.last_id(), "7") << "of an event before it";
  EXPECT_EQ(stream.retry(), std::chrono::milliseconds(250));
  ASSERT_TRUE(stream.push("id\ndata: c\n\n", none));
  EXPECT_EQ(stream.last_id(), "");
  ASSERT_TRUE(stream.push(std::string_view("id: a\0b\n\n", 9), none));
  EXPECT_EQ(stream.last_id(), "");
}

TEST(EventStream, RefusesWhatIsTooLong) {
  EXPECT_EQ(events_of("data: " + std::string(94, 'x') + "\n\n", 7, 100).size(), 1U);
  EXPECT_EQ(events_of("data: " + std::string(95, 'x') + "\n\n", 7, 100).back(), "!");
  std::string many;
  for (int i = 0; i < 30; ++i) {
    many += "data: 12345\n";
  }
  EXPECT_EQ(events_of(many + "\n", 7, 100).back(), "!");
  EXPECT_EQ(events_of(std::string(1000, 'x'), 9, 100).back(), "!");
}

TEST(EventStream, EndsWhereItsReaderDoes) {
  EventStream stream(1000);
  int count = 0;
  const Status ended = stream.push("data: a\n\ndata: b\n\n", [&](const ServerEvent&) {
    ++count;
    return fail(ErrorCode::Cancelled, "enough");
  });
  EXPECT_EQ(ended.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace mynah
