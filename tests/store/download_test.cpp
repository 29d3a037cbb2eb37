#include "store/download.h"

#include <atomic>
#include <filesystem>
#include <future>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/sha256.h"
#include "store/test_server.h"
#include "temporary_folder.h"

namespace mynah {
namespace {

using std::chrono::milliseconds;
using test::read_file;
using test::TemporaryFolder;
using test::write_file;
using testing::answer;
using ::testing::HasSubstr;
using testing::ServerRequest;
using testing::TestServer;

// Three megabytes that differ everywhere, so that pieces in the wrong place show.
std::string example_body() {
  std::string body;
  for (int i = 0; body.size() < 3'000'000; ++i) {
    body += fmt::format("line {}\n", i);
  }
  return body;
}

std::string hash_of(const std::string& text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

DownloadOptions quick_options() {
  DownloadOptions options;
  options.attempts = 3;
  options.first_pause = milliseconds(1);
  options.longest_pause = milliseconds(2);
  return options;
}

class RecordingObserver : public StoreObserver {
 public:
  void on_progress(std::string_view /*what*/, uint64_t done, uint64_t total) override {
    EXPECT_TRUE(total == 0 || done <= total);
    last_done = done;
    last_total = total;
    if (stop_at != 0 && done >= stop_at) {
      stop.request_stop();
    }
  }

  void on_message(std::string_view line) override { messages.emplace_back(line); }

  uint64_t last_done = 0;
  uint64_t last_total = 0;
  uint64_t stop_at = 0;
  std::stop_source stop;
  std::vector<std::string> messages;
};

class Download : public ::testing::Test {
 protected:
  Result<Downloaded> fetch(const TestServer& server, const std::string& target = "/model",
                           const std::string& pinned = "", uint64_t size = 0) {
    return download({.name = "model", .url = server.url(target), .sha256 = pinned, .size = size},
                    path(), options, observer, observer.stop.get_token());
  }

  [[nodiscard]] std::string path() const { return folder / "model.bin"; }

  [[nodiscard]] bool left_nothing() const {
    return !std::filesystem::exists(path()) && !std::filesystem::exists(path() + ".part");
  }

  const std::string body = example_body();
  const std::string etag = "ETag: \"version-1\"\r\n";
  TemporaryFolder folder;
  DownloadOptions options = quick_options();
  RecordingObserver observer;
};

// The rest of a body as a server that knows Range sends it.
std::string ranged(const ServerRequest& request, const std::string& headers,
                   const std::string& body) {
  const size_t start = request.range_start();
  if (start == 0) {
    return answer(200, headers, body);
  }
  return answer(206,
                headers + fmt::format("Content-Range: bytes {}-{}/{}\r\n", start, body.size() - 1,
                                      body.size()),
                body.substr(start));
}

TEST_F(Download, brings_the_file_and_says_what_came) {
  const TestServer server(
      [&](const ServerRequest&) { return answer(200, etag + "X-Repo-Commit: abc123\r\n", body); });
  const auto got = fetch(server);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(read_file(path()), body);
  EXPECT_EQ(got->sha256, hash_of(body));
  EXPECT_EQ(got->size, body.size());
  EXPECT_EQ(got->revision, "abc123");
  EXPECT_EQ(got->proof, Proof::Transport);
  EXPECT_EQ(observer.last_done, body.size());
  EXPECT_EQ(observer.last_total, body.size());
  EXPECT_FALSE(std::filesystem::exists(path() + ".part"));
  EXPECT_FALSE(std::filesystem::exists(path() + ".part.json"));
}

TEST_F(Download, resumes_where_a_dropped_connection_ended) {
  std::atomic<int> drops = 0;
  const TestServer server([&](const ServerRequest& request) {
    const std::string whole = ranged(request, etag, body);
    return drops++ < 2 ? whole.substr(0, whole.find("\r\n\r\n") + 4 + 1'000'000) : whole;
  });
  const auto got = fetch(server);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(read_file(path()), body);
  EXPECT_EQ(got->sha256, hash_of(body));
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3U);
  EXPECT_EQ(requests[1].header("range"), "bytes=1000000-");
  EXPECT_EQ(requests[1].header("if-range"), "\"version-1\"");
  EXPECT_EQ(requests[2].header("range"), "bytes=2000000-");
  EXPECT_EQ(observer.messages.size(), 2U);
}

TEST_F(Download, keeps_the_part_when_stopped_and_goes_on_in_the_next_run) {
  const TestServer server(
      [&](const ServerRequest& request) { return ranged(request, etag, body); });
  observer.stop_at = 1'000'000;
  const auto stopped = fetch(server);
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
  const auto part = std::filesystem::file_size(path() + ".part");
  EXPECT_GE(part, 1'000'000U);
  RecordingObserver second;
  const auto got = download({.name = "model", .url = server.url("/model"), .sha256 = "", .size = 0},
                            path(), options, second, {});
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(server.requests().back().range_start(), part);
  EXPECT_EQ(read_file(path()), body);
  EXPECT_EQ(got->sha256, hash_of(body));
}

TEST_F(Download, begins_anew_when_the_server_ignores_the_range) {
  std::atomic<int> calls = 0;
  const TestServer server([&](const ServerRequest&) {
    const std::string whole = answer(200, etag, body);
    return calls++ == 0 ? whole.substr(0, 1'500'000) : whole;
  });
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(read_file(path()), body);
}

TEST_F(Download, begins_anew_when_the_file_changed_between_two_attempts) {
  std::string newer = body;
  newer[10] = 'X';
  std::atomic<int> calls = 0;
  const TestServer server([&](const ServerRequest& request) {
    if (calls++ == 0) {
      return answer(200, etag, body).substr(0, 1'500'000);
    }
    // As RFC 7233, 3.2: a range whose If-Range no longer holds is answered with the whole.
    EXPECT_EQ(request.header("if-range"), "\"version-1\"");
    return answer(200, "ETag: \"version-2\"\r\n", newer);
  });
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(read_file(path()), newer);
}

TEST_F(Download, does_not_join_parts_that_nothing_vouches_for) {
  std::atomic<int> calls = 0;
  const TestServer server([&](const ServerRequest& request) {
    const std::string whole = ranged(request, "ETag: W/\"weak\"\r\n", body);
    return calls++ == 0 ? whole.substr(0, 1'500'000) : whole;
  });
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(server.requests().back().header("range"), "");
  EXPECT_EQ(read_file(path()), body);
}

TEST_F(Download, refuses_a_range_other_than_the_one_asked_for) {
  std::atomic<int> calls = 0;
  const TestServer server([&](const ServerRequest& request) {
    if (calls++ == 0) {
      return answer(200, etag, body).substr(0, 1'500'000);
    }
    if (request.range_start() != 0) {
      return answer(206, etag + "Content-Range: bytes 5-9/3000000\r\n", body.substr(5, 5));
    }
    return answer(200, etag, body);
  });
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(read_file(path()), body);
}

TEST_F(Download, takes_a_part_that_is_whole_already) {
  write_file(path() + ".part", body);
  const TestServer server([&](const ServerRequest& request) {
    EXPECT_EQ(request.range_start(), body.size());
    return answer(416, fmt::format("Content-Range: bytes */{}\r\n", body.size()), "");
  });
  write_file(path() + ".part.json",
             fmt::format(R"({{"url": "{}", "etag": "\"version-1\"", "size": {}}})",
                         server.url("/model"), body.size()));
  const auto got = fetch(server);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->sha256, hash_of(body));
  EXPECT_EQ(read_file(path()), body);
}

TEST_F(Download, begins_anew_when_the_note_of_the_part_is_damaged) {
  write_file(path() + ".part", "something else");
  write_file(path() + ".part.json", R"({"url": 7, "etag": [)");
  const TestServer server([&](const ServerRequest& r) { return ranged(r, etag, body); });
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(read_file(path()), body);
}

TEST_F(Download, takes_what_an_earlier_run_brought_without_asking) {
  const TestServer server([&](const ServerRequest&) {
    return answer(200, "X-Repo-Commit: abc\r\nX-Linked-ETag: \"" + hash_of(body) + "\"\r\n", body);
  });
  const auto first = fetch(server);
  const auto again = fetch(server);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(again->sha256, first->sha256);
  EXPECT_EQ(again->revision, "abc");
  EXPECT_EQ(again->proof, Proof::Server);
  // Damaged since, or another address: fetched again.
  write_file(path(), std::string(body.size(), 'x'));
  ASSERT_TRUE(fetch(server).has_value());
  EXPECT_EQ(read_file(path()), body);
  ASSERT_TRUE(fetch(server, "/newer").has_value());
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Download, follows_redirects_and_takes_the_digest_of_the_first_answer) {
  const TestServer server([&](const ServerRequest& request) {
    if (request.target == "/model") {
      return answer(302,
                    fmt::format("Location: /bytes?x=1\r\nX-Linked-ETag: \"{}\"\r\n"
                                "X-Linked-Size: {}\r\nX-Repo-Commit: c0ffee\r\n",
                                hash_of(body), body.size()),
                    "");
    }
    return ranged(request, etag, body);
  });
  const auto got = fetch(server);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->proof, Proof::Server);
  EXPECT_EQ(got->revision, "c0ffee");
  EXPECT_EQ(got->url, server.url("/bytes?x=1"));
}

TEST_F(Download, checks_small_files_against_gits_name_for_them) {
  // `printf hello | git hash-object --stdin`
  const std::string blob = "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0";
  std::string sent = "hello";
  const TestServer server([&](const ServerRequest&) {
    return answer(200, fmt::format("ETag: \"{}\"\r\n", blob), sent);
  });
  const auto got = fetch(server);
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->proof, Proof::Server);
  sent = "hellO";
  const auto damaged = fetch(server, "/other");
  ASSERT_FALSE(damaged.has_value());
  EXPECT_THAT(damaged.error().message, HasSubstr(blob));
}

TEST_F(Download, throws_away_bytes_that_do_not_match_the_servers_digest) {
  const TestServer server([&](const ServerRequest&) {
    return answer(200, fmt::format("X-Linked-ETag: \"{}\"\r\n", std::string(64, '0')), body);
  });
  const auto got = fetch(server);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("wanted digest 0000"));
  EXPECT_THAT(got.error().message, HasSubstr(hash_of(body)));
  EXPECT_TRUE(left_nothing());
}

TEST_F(Download, believes_the_pinned_digest_before_the_servers) {
  const TestServer server([&](const ServerRequest&) {
    return answer(200, fmt::format("X-Linked-ETag: \"{}\"\r\n", hash_of(body)), body);
  });
  EXPECT_FALSE(fetch(server, "/model", std::string(64, 'a')).has_value());
  const auto got = fetch(server, "/model", hash_of(body));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->proof, Proof::Pinned);
}

TEST_F(Download, fails_when_the_server_promises_more_than_it_has) {
  const TestServer server([&](const ServerRequest& request) {
    const size_t start = request.range_start();
    return fmt::format(
        "HTTP/1.1 {} Text\r\n{}Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n{}",
        start == 0 ? 200 : 206, etag, start, body.size() + 99, body.size() + 100,
        body.size() + 100 - start, body.substr(start));
  });
  const auto got = fetch(server);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("given up after 3 attempts"));
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(std::filesystem::file_size(path() + ".part"), body.size());
}

TEST_F(Download, fails_when_the_body_is_shorter_than_the_linked_size) {
  const TestServer server([&](const ServerRequest& request) {
    return ranged(request, etag + "X-Linked-Size: 3999999\r\n", body);
  });
  const auto got = fetch(server);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("wanted 3999999 bytes"));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(Download, stops_a_server_that_sends_more_than_the_file_has) {
  const TestServer server([&](const ServerRequest&) { return answer(200, etag, body); });
  const auto got = fetch(server, "/model", "", 1000);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("wanted 1000 bytes, the server sends more"));
  EXPECT_TRUE(left_nothing());
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(Download, gives_up_at_once_where_trying_again_is_no_use) {
  for (const int status : {400, 401, 403, 404, 410}) {
    const TestServer server([&](const ServerRequest&) { return answer(status, "", "no"); });
    const auto got = fetch(server);
    ASSERT_FALSE(got.has_value());
    EXPECT_THAT(got.error().message, HasSubstr(fmt::format("status {}", status)));
    EXPECT_EQ(server.requests().size(), 1U) << status;
    EXPECT_TRUE(left_nothing());
  }
}

TEST_F(Download, tries_again_where_the_server_is_busy_or_ill) {
  for (const int status : {408, 429, 500, 502, 503}) {
    std::atomic<int> calls = 0;
    const TestServer server([&](const ServerRequest&) {
      return calls++ == 0 ? answer(status, "Retry-After: 3600\r\n", "later")
                          : answer(200, etag, body);
    });
    EXPECT_TRUE(fetch(server).has_value()) << status;
    EXPECT_EQ(server.requests().size(), 2U);
  }
}

TEST_F(Download, does_not_follow_a_circle_of_redirects) {
  const TestServer server([&](const ServerRequest& request) {
    return answer(302, request.target == "/model" ? "Location: /b\r\n" : "Location: /model\r\n",
                  "");
  });
  const auto got = fetch(server);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("more than 10 redirects"));
  EXPECT_EQ(server.requests().size(), 11U);
}

TEST_F(Download, says_what_is_wrong_with_an_answer_that_is_not_http) {
  for (const char* nonsense : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\0\0\0\0"}) {
    const TestServer server(
        [&](const ServerRequest&) { return std::string(nonsense) + "\r\n\r\n"; });
    const auto got = fetch(server);
    ASSERT_FALSE(got.has_value());
    EXPECT_THAT(got.error().message, HasSubstr("no proper answer"));
  }
}

TEST_F(Download, survives_an_answer_cut_at_any_byte_of_its_head) {
  const std::string whole = answer(200, etag, "0123456789");
  options.attempts = 1;
  for (size_t size = 0; size < whole.size(); ++size) {
    const TestServer server([&](const ServerRequest&) { return whole.substr(0, size); });
    ASSERT_FALSE(fetch(server).has_value()) << size;
    std::filesystem::remove(path() + ".part");
  }
}

TEST_F(Download, gives_up_on_a_server_that_falls_silent) {
  std::promise<void> done;
  const TestServer server([&](const ServerRequest&) {
    done.get_future().wait();
    return std::string();
  });
  options.attempts = 1;
  options.http.stall_timeout = milliseconds(50);
  const auto got = fetch(server);
  done.set_value();
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Io);
  EXPECT_THAT(got.error().message, HasSubstr("no answer in time"));
}

TEST_F(Download, does_not_wait_for_a_host_that_is_not_there) {
  std::string url;
  {
    const TestServer gone([](const ServerRequest&) { return std::string(); });
    url = gone.url("/model");
  }
  const auto got = download({.name = "model", .url = url, .sha256 = "", .size = 0}, path(), options,
                            observer, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::Environment);
  EXPECT_TRUE(observer.messages.empty());
}

TEST_F(Download, goes_through_a_proxy) {
  const TestServer proxy([&](const ServerRequest& request) {
    EXPECT_EQ(request.target, "http://models.invalid/model");
    EXPECT_EQ(request.header("host"), "models.invalid");
    EXPECT_EQ(request.header("proxy-authorization"), "Basic bmFtZTpwYXNz");  // name:pass
    return answer(200, etag, body);
  });
  options.http.proxies.http = fmt::format("http://name:pass@127.0.0.1:{}", proxy.port());
  const auto got =
      download({.name = "model", .url = "http://models.invalid/model", .sha256 = "", .size = 0},
               path(), options, observer, {});
  ASSERT_TRUE(got.has_value()) << got.error().message;
}

TEST_F(Download, asks_a_proxy_to_connect_for_a_secure_address) {
  const TestServer proxy([&](const ServerRequest&) { return answer(403, "", ""); });
  options.http.proxies.https = fmt::format("127.0.0.1:{}", proxy.port());
  const auto got =
      download({.name = "model", .url = "https://models.invalid/model", .sha256 = "", .size = 0},
               path(), options, observer, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message,
              HasSubstr("refuses to connect to models.invalid:443: status 403"));
  EXPECT_EQ(proxy.requests().front().method, "CONNECT");
}

TEST_F(Download, fails_before_it_fills_the_disk) {
  const TestServer server([&](const ServerRequest&) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", uint64_t{1} << 60U);
  });
  const auto got = fetch(server);
  ASSERT_FALSE(got.has_value());
  EXPECT_THAT(got.error().message, HasSubstr("not enough space"));
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace mynah
