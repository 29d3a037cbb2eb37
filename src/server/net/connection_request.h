// Connection::Request: a request from its head to its answer.
#pragma once

#include <chrono>

#include <boost/beast/http/parser.hpp>

#include "server/net/connection.h"
#include "server/net/taken_body.h"

namespace mynah::server {

struct Connection::Request {
  boost::beast::http::request_parser<TakenBody> parser;
  RequestHead head;
  Front::Plan plan;
  Body body;
  bool keeps = false;     // another request may follow
  bool chunked = false;   // the answer is
  bool bodiless = false;  // the answer's body is not sent: HEAD
  Response refusal;
  bool answered = false;  // all of it was sent
  Clock::time_point began{};
  Served served;
};

}  // namespace mynah::server
