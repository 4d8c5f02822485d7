// From a Reply to an HTTP answer: content types, warnings, YAML and pretty printing. Pure.
#pragma once

#include <string>

#include "apiserver/media.h"
#include "apiserver/rest.h"
#include "net/http.h"

namespace fairlead::apiserver {

struct Presentation {
    Form form;
    bool pretty = false;
    const resource::Kind* kind = nullptr;  // of the objects in the reply
    WallTime now;
};

net::Response answer(Reply reply, const Presentation& presentation);
net::Response answer(const Status& status);
net::Response json_answer(std::string body, const Presentation& presentation);
net::Response page_not_found();
net::Response stream_answer(std::unique_ptr<net::StreamBody> stream);

}  // namespace fairlead::apiserver
