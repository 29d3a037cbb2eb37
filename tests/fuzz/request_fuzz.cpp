// Any bytes as what requests hold: a target, pairs, the fields of a transcription, the object of a
// speech or of a conversation; and as what says who may ask: keys, ranges of addresses, webhooks.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/access/addresses.h"
#include "server/access/keys.h"
#include "server/chat/completion_request.h"
#include "server/chat/content_calls.h"
#include "server/chat/embed_texts.h"
#include "server/chat/responses_request.h"
#include "server/compat/ollama_request.h"
#include "server/hear/transcription_request.h"
#include "server/http/message.h"
#include "server/jobs/job_request.h"
#include "server/jobs/webhook_rule.h"
#include "server/speak/speech_request.h"
#include "store/url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mynah;          // NOLINT(google-build-using-namespace): a program of its own
  using namespace mynah::server;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  RequestHead head;
  if (parse_target(text, head)) {
    MYNAH_CHECK(head.path.starts_with('/'), "a path begins so");
    MYNAH_CHECK(!head.path.contains('\0'), "and names what the system can name");
  }
  if (auto pairs = parse_pairs(text)) {
    Body body;
    body.fields = *std::move(pairs);
    const auto request = parse_transcription(body, Task::Transcribe);
    const auto kept = parse_job_parameters(job_parameters(Task::Translate, "a.wav", body));
    MYNAH_CHECK(kept && kept->body.fields.size() == body.fields.size(),
                "a job keeps what is asked");
    MYNAH_CHECK(request || !request.error().error.message.empty(), "an error says what is wrong");
    if (request) {
      const VadOptions& vad = request->options.cutting.vad_options;
      MYNAH_CHECK(vad.threshold >= 0 && vad.threshold <= 1, "a threshold is a probability");
      MYNAH_CHECK(vad.speech_pad_ms >= 0 && vad.min_silence_ms >= 0, "times are no less than none");
    }
  }
  const SentJson sent(text);
  if (const auto request = parse_speech(sent)) {
    MYNAH_CHECK(!request->input.empty(), "there is something to say");
    MYNAH_CHECK(request->options.voice.speed >= 0.25F && request->options.voice.speed <= 4.0F,
                "a speed is from 0.25 to 4");
  } else {
    MYNAH_CHECK(!request.error().error.message.empty(), "an error says what is wrong");
  }
  if (const auto captioned = parse_captioned(sent)) {
    MYNAH_CHECK(!captioned->input.empty(), "there is something to say");
  }
  if (const auto dialogue = parse_dialogue(sent)) {
    MYNAH_CHECK(!dialogue->turns.empty() && dialogue->pause_s <= 10, "somebody says something");
  }
  for (const auto& chat : {parse_chat_completion(sent), parse_completion(sent)}) {
    MYNAH_CHECK(chat || !chat.error().error.message.empty(), "an error says what is wrong");
    MYNAH_CHECK(!chat || (chat->replies >= 1 && (chat->goes_on() || !chat->chat.messages.empty())),
                "there is something to reply to");
  }
  for (const auto& asked : {parse_ollama_chat(sent), parse_ollama_generate(sent)}) {
    MYNAH_CHECK(asked || !asked.error().error.message.empty(), "an error says what is wrong");
  }
  if (const auto responses = parse_responses(sent)) {
    MYNAH_CHECK(!responses->completion.goes_on(), "it is a conversation");
  }
  const auto input = sent.object.find("input");
  if (const auto embedded = input == sent.object.end() ? std::expected<EmbeddedTexts, FieldError>()
                                                       : read_texts(*input, "input")) {
    MYNAH_CHECK(embedded->texts.empty() || embedded->tokens.empty(), "texts or tokens, not both");
  }
  ContentCalls calls(ContentIs::CallOrAnswer, {"f"}, "id");
  ReplyMessage message;
  for (size_t at = 0; at < text.size(); at += 7) {
    const std::string piece(text.substr(at, 7));
    message.content += calls.take({.content = piece, .reasoning = {}, .calls = {}}).content;
  }
  message.content += calls.finish().content;
  MYNAH_CHECK(message.content.empty() || message.content == text, "all of it is text, or none");
  if (const auto keys = parse_keys(text)) {
    const auto again = parse_keys(keys_text(*keys));
    MYNAH_CHECK(again && again->size() == keys->size(), "what is kept is read back");
  }
  static_cast<void>(AddressRange::parse(text));
  if (WebhookRule({}).check(std::string(text))) {
    MYNAH_CHECK(parse_url(text).has_value(), "a webhook is an address of the web");
  }
  static_cast<void>(parse_job_parameters(std::string(text)));
  return 0;
}
