package sketch
