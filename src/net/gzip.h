// Compression of answers; gzip.cpp is the home of zlib. One Gzip belongs to one answer and one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http.h"

namespace fairlead::net {

class Gzip {
public:
    Gzip();
    ~Gzip();
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    enum class Flush {
        no,      // may keep bytes back: packs best
        now,     // the reader can unpack all that was added
        finish,  // nothing follows
    };
    // False if zlib is out of memory; the answer cannot be completed then.
    bool add(std::string_view plain, Flush flush, std::string& packed);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The same stream, packed. What its source holds back by waiting is not held back by packing.
std::unique_ptr<StreamBody> gzip_stream(std::unique_ptr<StreamBody> plain);

}  // namespace fairlead::net
