// TakenBody: a body that is handed on as it comes, as Beast's parser wants it told.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>

#include "server/http/body.h"

namespace mynah::server {

struct TakenBody {
  struct value_type {  // NOLINT(readability-identifier-naming): Beast asks for it
    BodyTaker* taker = nullptr;
    uint64_t taken = 0;  // bytes
    std::optional<Error> error;
  };

  class reader {  // NOLINT(readability-identifier-naming): the same
   public:
    template <bool is_request, class Fields>
    reader(boost::beast::http::header<is_request, Fields>& /*header*/, value_type& body)
        : body_(body) {}

    void init(const boost::optional<uint64_t>& /*length*/, boost::system::error_code& error) {
      error = {};
    }

    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      size_t taken = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer buffer(*it);
        Status status = body_.taker->take({static_cast<const char*>(buffer.data()), buffer.size()});
        if (!status) {
          body_.error = std::move(status).error();
          error = boost::beast::http::error::body_limit;
          return taken;
        }
        taken += buffer.size();
        body_.taken += buffer.size();
      }
      error = {};
      return taken;
    }

    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace mynah::server
