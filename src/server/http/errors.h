// What clients are told of errors.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "server/http/message.h"

namespace mynah::server {

// The status of an answer that says so. Libraries send a request again where it is 408, 409, 429 or
// from 500 on, unless "x-should-retry: false" stands beside it, as it does beside what another try
// would not mend (openai-python, _base_client.py).
[[nodiscard]] int error_status(ErrorCode code);

// An error's message for who knows mynah by its requests: options of the command line that are
// fields there are called so, commands that list something are the requests that do, and of the
// others it is said whose they are.
[[nodiscard]] std::string client_message(const Error& error);

// When to ask again, in the headers that libraries obey.
void set_retry_after(Response& response, std::chrono::milliseconds wait);

// The object of openai_error(), on one line: what an answer that has begun ends with.
[[nodiscard]] std::string openai_error_text(const Error& error, const std::string& param = {},
                                            const std::string& code = {});

// As OpenAI's API tells errors: {"error":{"message","type","param","code"}}, with the headers that
// libraries obey. `param`: the field that is wrong; "": the one that the message begins with.
// `code`: for programs;
// "": that of the error.
[[nodiscard]] Response openai_error(const Error& error, const std::string& param = {},
                                    const std::string& code = {});

}  // namespace mynah::server
