// Bytes of requests: targets, forms, uploads.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/input_file.h"
#include "server/http/body.h"
#include "server/http/errors.h"
#include "server/http/form.h"
#include "server/http/framing.h"
#include "server/http/json_text.h"
#include "server/http/message.h"
#include "server/http/multipart.h"
#include "server/http/outbox.h"

namespace mynah::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(Target, IsDecoded) {
  RequestHead head;
  ASSERT_TRUE(parse_target("/v1/models/tiny%2Een?task=a+b%20c&x&y=%C3%A9&=z#behind", head));
  EXPECT_EQ(head.path, "/v1/models/tiny.en");
  EXPECT_THAT(head.query, ElementsAre(Pair("task", "a b c"), Pair("x", ""), Pair("y", "\xC3\xA9"),
                                      Pair("", "z")));
  EXPECT_EQ(head.asked("task"), "a b c");
  EXPECT_EQ(head.asked("none"), std::nullopt);
  head = {};
  ASSERT_TRUE(parse_target("http://127.0.0.1:8080/a+b", head)) << "as proxies are asked";
  EXPECT_EQ(head.path, "/a+b");
  head = {};
  ASSERT_TRUE(parse_target("https://talk.example", head));
  EXPECT_EQ(head.path, "/");
}

TEST(Target, IsRefusedWhereItIsNone) {
  for (const char* bad : {"", "*", "v1", "/%", "/%4", "/%zz", "/%00", "/?a=%0"}) {
    RequestHead head;
    const Status parsed = parse_target(bad, head);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::InvalidInput);
  }
}

TEST(Headers, AreFoundInEitherCase) {
  Headers headers;
  headers.add("Content-Type", "a");
  headers.add("content-type", "b");
  EXPECT_EQ(headers.get("CONTENT-TYPE"), "a");
  EXPECT_FALSE(headers.has("content"));
  headers.set("CONTENT-TYPE", "c");
  EXPECT_THAT(headers.fields(), ElementsAre(Pair("CONTENT-TYPE", "c")));
}

TEST(Framing, IsToldOnceAndAsItIsKnownHere) {
  const std::pair<Headers::Field, Headers::Field> bad[] = {
      {{"Content-Length", "1"}, {"Transfer-Encoding", "chunked"}},
      {{"Content-Length", "1"}, {"content-length", "1"}},
      {{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
      {{"Transfer-Encoding", "gzip, chunked"}, {"A", "b"}},
      {{"Content-Length", "5, 5"}, {"A", "b"}},
      {{"Content-Length", "+5"}, {"A", "b"}},
      {{"Transfer-Encoding", "identity"}, {"A", "b"}},
      {{"Transfer-Encoding", ""}, {"A", "b"}},
  };
  for (const auto& [one, other] : bad) {
    Headers headers;
    headers.add(one.first, one.second);
    headers.add(other.first, other.second);
    EXPECT_FALSE(check_framing(headers, true)) << one.first << one.second;
  }
  Headers headers;
  EXPECT_TRUE(check_framing(headers, false));
  headers.add("Transfer-Encoding", " Chunked");
  EXPECT_TRUE(check_framing(headers, true));
  EXPECT_FALSE(check_framing(headers, false)) << "HTTP/1.0 has no chunks";
}

class Parts final : public PartObserver {
 public:
  Status on_part(const PartHead& head) override {
    heads_.push_back(head);
    bytes_.emplace_back();
    return {};
  }

  Status on_bytes(std::string_view bytes) override {
    bytes_.back() += bytes;
    return {};
  }

  std::vector<PartHead> heads_;
  std::vector<std::string> bytes_;
};

constexpr std::string_view kForm =
    "what stands before is nothing\r\n--b0\r\n"
    "Content-Disposition: form-data; name=\"model\"\r\n\r\ntiny.en\r\n--b0  \r\n"
    "content-disposition:form-data;filename=\"a \\\"b\\\" C:\\dir\\c.wav\" ; name=file\r\n"
    "Content-Type: audio/wav\r\n\r\n\r\n--b1\r\n--b\r\n\r\n--b0\r\n"
    "Content-Disposition: form-data; name=\"empty\"\r\n\r\n\r\n--b0--\r\nnothing behind";

TEST(Multipart, IsTheSameHoweverItsBytesCome) {
  for (size_t piece = 1; piece <= kForm.size(); ++piece) {
    Parts parts;
    MultipartReader reader("b0", parts);
    for (size_t at = 0; at < kForm.size(); at += piece) {
      ASSERT_TRUE(reader.take(kForm.substr(at, piece)));
    }
    ASSERT_TRUE(reader.finish());
    ASSERT_THAT(parts.heads_, SizeIs(3)) << "in pieces of " << piece;
    EXPECT_EQ(parts.heads_[0].name, "model");
    EXPECT_FALSE(parts.heads_[0].is_file);
    EXPECT_EQ(parts.heads_[1].name, "file");
    EXPECT_TRUE(parts.heads_[1].is_file);
    EXPECT_EQ(parts.heads_[1].file_name, "a \"b\" C:\\dir\\c.wav");
    EXPECT_EQ(parts.heads_[1].type, "audio/wav");
    EXPECT_THAT(parts.bytes_, ElementsAre("tiny.en", "\r\n--b1\r\n--b\r\n", ""));
  }
}

TEST(Multipart, ThatBreaksOffIsRefused) {
  for (size_t size = 0; size < kForm.find("--b0--") + 6; ++size) {
    Parts parts;
    MultipartReader reader("b0", parts);
    ASSERT_TRUE(reader.take(kForm.substr(0, size)));
    EXPECT_FALSE(reader.finish()) << "after " << size;
  }
}

TEST(Multipart, ThatIsNoneIsRefused) {
  for (const std::string bad :
       {"--b0 x\r\n\r\n", "--b0\r\nno colon\r\n\r\n", "--b0\r\n\r\nno name\r\n--b0--",
        "--b0\r\nContent-Disposition: form-data; filename=a\r\n\r\nx\r\n--b0--"}) {
    Parts parts;
    MultipartReader reader("b0", parts);
    EXPECT_FALSE(reader.take(bad)) << bad;
  }
  Parts parts;
  MultipartReader endless("b0", parts);
  EXPECT_FALSE(endless.take(std::string(1U << 20U, 'x')));
  MultipartReader head("b0", parts);
  EXPECT_FALSE(head.take("--b0\r\nA: " + std::string(1U << 20U, 'x')));
  MultipartReader many("b0", parts);
  std::string parts_of_it;
  for (int i = 0; i < 2000; ++i) {
    parts_of_it += "--b0\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n";
  }
  EXPECT_FALSE(many.take(parts_of_it));
}

TEST(Multipart, BoundaryOfContentType) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=b0"), "b0");
  EXPECT_EQ(boundary_of("Multipart/Form-Data;charset=utf-8;Boundary=\"b 0\""), "b 0");
  for (const char* bad :
       {"", "application/json; boundary=b0", "multipart/form-data",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"b \""}) {
    EXPECT_FALSE(boundary_of(bad)) << bad;
  }
  EXPECT_FALSE(boundary_of("multipart/form-data; boundary=" + std::string(71, 'b')));
}

BodyLimits limits() {
  return {.most_text = 64, .most_bytes = 64U << 20U, .spool_folder = ::testing::TempDir()};
}

TEST(BodyTaker, KeepsLongFilesOutOfMemory) {
  auto taker = make_body_taker(Accepts::Form, "multipart/form-data; boundary=b", limits());
  ASSERT_TRUE(taker);
  ASSERT_TRUE(
      (*taker)->take("--b\r\nContent-Disposition: form-data; name=file; filename=a.wav\r\n\r\n"));
  // Beyond what stays in memory, so that all of it moves.
  const std::string piece(1U << 20U, 'p');
  for (int i = 0; i < 18; ++i) {
    ASSERT_TRUE((*taker)->take(piece));
  }
  ASSERT_TRUE((*taker)->take("end\r\n--b--"));
  const auto body = (*taker)->finish();
  ASSERT_TRUE(body) << body.error().message;
  ASSERT_THAT(body->files, SizeIs(1));
  EXPECT_EQ(body->files[0].bytes.size_bytes(), 18 * piece.size() + 3);
  for (int reader = 0; reader < 2; ++reader) {
    auto input = body->files[0].bytes.open("a.wav");
    ASSERT_TRUE(input);
    EXPECT_EQ(input->size_bytes, static_cast<int64_t>(18 * piece.size() + 3));
    std::string all(18 * piece.size() + 3, '\0');
    size_t at = 0;
    while (at < all.size()) {
      const auto count = read_some(*input, std::as_writable_bytes(std::span(all).subspan(at)));
      ASSERT_TRUE(count && *count > 0);
      at += *count;
    }
    EXPECT_TRUE(all.starts_with("ppp"));
    EXPECT_TRUE(all.ends_with("pppend"));
  }
}

TEST(BodyTaker, TakesWhatARouteWants) {
  auto pairs =
      make_body_taker(Accepts::Form, "application/x-www-form-urlencoded; charset=utf-8", limits());
  ASSERT_TRUE((*pairs)->take("a=1&b"));
  ASSERT_TRUE((*pairs)->take("=x+y"));
  EXPECT_THAT((*pairs)->finish()->fields, ElementsAre(Pair("a", "1"), Pair("b", "x y")));
  EXPECT_FALSE(make_body_taker(Accepts::Form, "application/json", limits()));

  auto text = make_body_taker(Accepts::Text, "", limits());
  ASSERT_TRUE((*text)->take("{}"));
  EXPECT_EQ((*text)->finish()->text, "{}");
  const Status refused = (*text)->take(std::string(65, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::OutOfMemory);

  auto form = make_body_taker(Accepts::Form, "multipart/form-data; boundary=b", limits());
  EXPECT_FALSE((*form)->take("--b\r\nContent-Disposition: form-data; name=a\r\n\r\n" +
                             std::string(200, 'x')))
      << "a value is no file";
}

TEST(Outbox, EndsWithoutWaitingForWhoTakesNothing) {
  int woken = 0;
  Outbox outbox([&woken] { ++woken; });
  const std::string much(1U << 20U, 'm');
  ASSERT_TRUE(outbox.write(much));  // the next would wait
  outbox.end("last");
  EXPECT_TRUE(outbox.is_over());
  EXPECT_EQ(woken, 2);
  const Outbox::Taken taken = outbox.take();
  EXPECT_EQ(taken.bytes, much + "last");
  EXPECT_TRUE(taken.over);
  EXPECT_FALSE(taken.broken_off);
  outbox.leave();
  EXPECT_FALSE(outbox.write("more"));
}

TEST(FormValues, AreTextListsNumbersAndSwitches) {
  const FormValues::Fields fields = {{"a", "1"},     {"a", "2"},        {"w[]", "x"}, {"w", "y"},
                                     {"w[]", ""},    {"yes", "True"},   {"no", "0"},  {"n", "0.5"},
                                     {"bad", "1e9"}, {"odd", "perhaps"}};
  const FormValues form(fields);
  EXPECT_EQ(form.text("a"), "2");
  EXPECT_EQ(form.text("none"), "");
  EXPECT_THAT(form.list("w"), ElementsAre("x", "y"));
  EXPECT_THAT(form.list("none"), IsEmpty());
  EXPECT_EQ(**form.flag("yes"), true);
  EXPECT_EQ(**form.flag("no"), false);
  EXPECT_EQ(*form.flag("none"), std::nullopt);
  EXPECT_FALSE(form.flag("odd"));
  EXPECT_EQ(**form.number("n", 0, 1), 0.5);
  EXPECT_EQ(*form.number("none", 0, 1), std::nullopt);
  const auto bad = form.number("bad", 0, 1);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("bad: wanted a number from 0 to 1, found '1e9'"));
  EXPECT_FALSE(form.number("odd", 0, 1));
}

TEST(Errors, AreToldInTheWordsOfRequests) {
  const auto told = [](const char* message) { return client_message({ErrorCode::Usage, message}); };
  EXPECT_EQ(told("a.wav has no audio"), "a.wav has no audio");
  EXPECT_EQ(told("--language: wanted a code, found 'xx'"), "language: wanted a code, found 'xx'");
  EXPECT_EQ(told("wanted another --format, such as mp3"),
            "wanted another response_format, such as mp3");
  EXPECT_EQ(told("compute with --device cpu (1 GB)"),
            "compute with --device cpu (1 GB) (by whoever runs the server)");
  EXPECT_EQ(told("try `mynah import --language de`"),
            "try `mynah import --language de` (by whoever runs the server)")
      << "a command is told as it is";
  EXPECT_EQ(told("joe speaks en and not 'de'; `mynah voices --lang de` lists those that do"),
            "joe speaks en and not 'de'; GET /v1/audio/voices lists those that do");
  EXPECT_EQ(told("`mynah voices"), "`mynah voices") << "no end of it";
  EXPECT_THAT(told("try `mynah pull kokoro`"), HasSubstr("whoever runs the server"));
  EXPECT_EQ(told("this server was started with --offline"),
            "this server was started with --offline");
  EXPECT_EQ(told("found '--' and --"), "found '--' and --");
  EXPECT_THAT(told("samples without a header want --raw"), HasSubstr("as a WAV has one"));
}

TEST(Errors, NameTheFieldThatTheyBeginWith) {
  const auto field = [](const char* message) {
    return parse_object(openai_error_text({ErrorCode::Usage, message}))["error"]["param"];
  };
  EXPECT_EQ(field("--language: wanted a code, found 'xx'"), "language");
  EXPECT_EQ(field("input: nothing in it can be spoken"), "input");
  EXPECT_TRUE(field("a.wav: wanted sound").is_null()) << "a file is no field";
  EXPECT_TRUE(field("voice").is_null());
}

}  // namespace
}  // namespace mynah::server
