/* ----------------------------------------------------------------------------------------------------------
   TILES

       On a root device with several tiles, a region has the metrics of each tile (ZT_TILE) and of the whole
       device, which combines the tiles:

       counts, bytes                      the sum
       times, clock cycles, flags         the largest
       averages                           the mean, weighted by the GPU time of the tiles
       metrics that are not combined      the value of the first tile

       A traced launch with times alone lasts from the first begin to the last end on any tile. Streams and
       hot spots of such a device are refused: open a stream or a profiler on each sub-device.
*/
