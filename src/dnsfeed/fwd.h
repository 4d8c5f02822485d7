// Names of this layer for headers that only pass references on.
#pragma once

namespace fairlead::dnsfeed {

class Book;
class Feed;
class FeedThread;

}  // namespace fairlead::dnsfeed
